// late_claims: which volumes the unbound claims of a pod that bind late would get on a node, equal to kube-scheduler:
// claims in ascending size, each the smallest volume that will do; else a new one where the class makes them. Claims
// that ask for the same share what is known of them: O(volumes of the class) once a volume of it is offered or has
// changed. A volume that is taken meanwhile is passed over.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bounded_map.h"
#include "live/track/volumes/node_terms.h"
#include "live/track/volumes/volume_book.h"
#include "live/track/volumes/volumes_by_label.h"

namespace ashlar::kube {

/// What claims ask for that ask for the same. The pods that depend on it alone are touched when other nodes will do for
/// it, whatever else changes of the class.
struct LateRequest {
  std::uint64_t number = 0;
  std::optional<std::shared_ptr<const VolumeTerms>> reported;  ///< to these pods, see LateChoices::alone
  bool is_reported = false;
  bool is_unsettled = false;  ///< noted, see LateChoices::note_changed
};

/// What a claim may get: the volumes, the smallest first, some of them taken by now, and the nodes where a new one may
/// be made.
struct LateChoice {
  static constexpr std::size_t kComparedMax = 64;
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
  std::shared_ptr<LateRequest> request;  ///< of all claims that ask for the same; null: it is this claim's alone
  std::uint64_t number = 0;              ///< no other choice has or had it
  BoundedMap<std::uint64_t, bool> competes_with{kComparedMax};  ///< by number: may both take the same volume?
  std::optional<bool> is_of_nodes;                              ///< see LateChoices::is_of_nodes
  VolumesByLabel by_label;  ///< the candidates, once they are looked for by node; see LateChoices::together
};

/// An unbound claim of a class that waits for its first consumer.
struct LateClaim {
  const PersistentVolumeClaim* claim = nullptr;
  std::shared_ptr<LateChoice> choice;
};

/// What is done for a pod on a node.
struct VolumeChoice {
  const LateClaim* unmet = nullptr;  ///< the first that gets nothing, and nothing is done; null: the node will do
  std::vector<std::pair<const PersistentVolumeClaim*, PooledString>> bound;
  std::vector<const PersistentVolumeClaim*> made;
};

/// A table of choices by what claims ask for.
class LateChoices {
 public:
  explicit LateChoices(VolumeBook& book) : book_(book) {}
  LateClaim of(const PersistentVolumeClaim& claim, const StorageClass& storage_class);
  /// The requests to these classes are looked at again, those that were noted first.
  void note_changed(std::span<const PooledString> classes);
  /// Touches the pods that depend on one of those requests for which other nodes will do than they know. Ends when
  /// `looks_max` volumes were looked at; what is left stays noted.
  void settle(std::uint64_t looks_max);
  bool is_settled() const { return unsettled_.empty(); }
  /// Volumes and nodes looked at, in total: about a third of a microsecond each.
  std::uint64_t looks() const { return looks_; }
  /// The nodes where the claim by itself can be met; null: all; absent: there are too many terms to say.
  const std::optional<std::shared_ptr<const VolumeTerms>>& alone(const LateClaim& late);
  using EachNode = std::function<void(const std::function<void(const PooledString& name, const Labels& labels)>&)>;
  /// The nodes where claims that may take the same volume can all be met, asked one by one; pods whose claims ask for
  /// the same share the answer. Cost: O(nodes x claims), and O(volumes of the classes) once per change of them.
  std::shared_ptr<const VolumeTerms> together(std::span<const LateClaim> claims, const EachNode& each_node);
  /// `labels`: of the node, its name among them. O(volumes that they allow), and O(volumes of the classes) once per
  /// change of them.
  VolumeChoice choose(std::span<const LateClaim> claims, const PooledString& node, const Labels& labels);
  /// Volumes that are left for the claim on the node, or kUnlimited where new ones are made. Cost: as above.
  static constexpr std::int64_t kUnlimited = std::int64_t{1} << 40;  ///< more than any cluster has
  std::int64_t left_at(const LateClaim& late, const Labels& labels);
  /// Whether one of the claims gets volumes that are bound to a node, as the one with these labels has some: other pods
  /// may have taken them. O(nodes) once for claims that ask for the same and a list of volumes.
  bool is_of_nodes(std::span<const LateClaim> claims, const Labels& labels, const EachNode& each_node) const;
  std::uint64_t nodes_asked() const { return nodes_asked_; }  // for tests: by `together`
  std::uint64_t made() const { return made_; }                // for tests: lists of volumes, and terms of them

 private:
  /// Choices for claims that ask for different things, and the volumes listed in them; beyond it some are forgotten.
  static constexpr std::size_t kKnownMax = 1024, kCandidatesMax = 400'000;
  static constexpr std::size_t kTogetherMax = 64;  ///< sets of claims
  /// A claim without what tells it apart from others that ask for the same.
  struct Hash {
    std::size_t operator()(const PersistentVolumeClaim& asked) const;
  };
  struct Known {
    std::shared_ptr<LateChoice> choice;
    std::size_t listed = 0;  ///< volumes of it that are counted in candidates_
  };
  using Requests = boost::unordered_flat_map<PersistentVolumeClaim, std::shared_ptr<LateRequest>, Hash>;
  bool is_needed(const PersistentVolumeClaim& asked, const std::shared_ptr<LateRequest>& request) const;
  bool has_dependents(const PersistentVolumeClaim& asked, const LateRequest& request) const;
  bool is_full() const { return choices_.is_full() || candidates_ >= kCandidatesMax; }
  void make_room();
  void forget_requests();
  void renew(Known& known, const std::shared_ptr<LateRequest>& request, const PersistentVolumeClaim& claim,
             const StorageClass& storage_class);
  void report(LateChoice& choice, const PooledString& class_name);
  std::shared_ptr<LateChoice> make(const PersistentVolumeClaim& claim, const StorageClass& storage_class);
  void drop_taken(const LateClaim& late);
  void sort_by_label(const LateClaim& late);
  void renew_makes(LateChoice& choice, const PersistentVolumeClaim& claim, const StorageClass& storage_class);

  /// Of choices, by ascending size of their claims.
  using Numbers = std::vector<std::uint64_t>;
  struct NumbersHash {
    std::size_t operator()(const Numbers& numbers) const;
  };
  /// An answer of `together`, and of when.
  struct Together {
    std::vector<VolumeBook::ClassEditions> editions;  ///< of the classes of the claims
    std::uint64_t nodes_edition = 0;
    std::shared_ptr<const VolumeTerms> nodes;
  };

  VolumeBook& book_;
  BoundedMap<Numbers, Together, NumbersHash> together_{kTogetherMax};
  BoundedMap<PersistentVolumeClaim, Known, Hash> choices_{kKnownMax};
  Requests requests_;              ///< those whose choice is known, or on which pods depend, and some more
  std::size_t requests_kept_ = 0;  ///< the last time that the others were forgotten
  std::size_t candidates_ = 0;     ///< listed in choices_
  std::deque<std::pair<PersistentVolumeClaim, std::shared_ptr<LateRequest>>> unsettled_;
  std::uint64_t made_ = 0, nodes_asked_ = 0, request_numbers_ = 0, looks_ = 0;
};

/// What the claim asks for, without what tells it apart from others that ask for the same.
PersistentVolumeClaim request_of(const PersistentVolumeClaim& claim);
/// Whether two of the claims may take the same volume.
bool do_compete(std::span<const LateClaim> claims);

}  // namespace ashlar::kube
