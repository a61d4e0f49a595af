// late_claims: which volumes the unbound claims of a pod that bind late would get on a node, equal to kube-scheduler:
// claims in ascending size, each the smallest volume that will do; else a new one where the class makes them. Claims
// that ask for the same share what is known of them: O(volumes of the class) once a volume of it is offered or has
// changed. A volume that is taken meanwhile is passed over.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "live/track/volumes/node_terms.h"
#include "live/track/volumes/volume_book.h"

namespace ashlar::kube {

/// What a claim may get: the volumes, the smallest first, some of them taken by now, and the nodes where a new one may
/// be made.
struct LateChoice {
  struct Candidate {
    PooledString volume;
    std::int64_t capacity = 0;
    AnyOf nodes;
  };
  std::vector<Candidate> candidates;
  AnyOf topologies, capacities;  ///< a new one: both must hold
  bool can_be_made = false;      ///< false: no new one anywhere
  /// the nodes where a claim by itself can be met, see LateChoices::alone; absent: there are too many terms to say
  std::optional<std::shared_ptr<const VolumeTerms>> alone;
  VolumeBook::ClassEditions editions, alone_editions;  ///< of the class, as this was made, and `alone`
  bool is_alone_known = false;
};

/// An unbound claim of a class that waits for its first consumer.
struct LateClaim {
  const PersistentVolumeClaim* claim = nullptr;
  std::shared_ptr<LateChoice> choice;
};

/// A table of choices by what claims ask for.
class LateChoices {
 public:
  explicit LateChoices(const VolumeBook& book) : book_(book) {}
  LateClaim of(const PersistentVolumeClaim& claim, const StorageClass& storage_class);
  /// The nodes where the claim by itself can be met; null: all; absent: there are too many terms to say.
  const std::optional<std::shared_ptr<const VolumeTerms>>& alone(const LateClaim& late);
  std::uint64_t made() const { return made_; }  // for tests: lists of volumes, and terms of them

 private:
  /// A claim without what tells it apart from others that ask for the same.
  struct Hash {
    std::size_t operator()(const PersistentVolumeClaim& asked) const;
  };
  std::shared_ptr<LateChoice> make(const PersistentVolumeClaim& claim, const StorageClass& storage_class);
  void renew_makes(LateChoice& choice, const PersistentVolumeClaim& claim, const StorageClass& storage_class);

  const VolumeBook& book_;
  boost::unordered_flat_map<PersistentVolumeClaim, std::shared_ptr<LateChoice>, Hash> known_;
  std::uint64_t made_ = 0;
};

/// What is done for a pod on a node.
struct VolumeChoice {
  std::vector<std::pair<const PersistentVolumeClaim*, PooledString>> bound;
  std::vector<const PersistentVolumeClaim*> made;
};
/// Nothing where the node will not do. `labels`: of the node, its name among them.
std::optional<VolumeChoice> choose_volumes(const VolumeBook& book, std::span<const LateClaim> claims,
                                           const PooledString& node, const Labels& labels);
/// Whether two of the claims may take the same volume.
bool do_compete(std::span<const LateClaim> claims);

}  // namespace ashlar::kube
