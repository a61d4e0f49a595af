// late_claims: which volumes the unbound claims of a pod that bind late would get on a node, equal to kube-scheduler:
// claims in ascending size, each the smallest volume that will do; else a new one where the class makes them. Claims
// that ask for the same share what is known of them: O(volumes of the class) once a volume of it is offered or has
// changed. A volume that is taken meanwhile is passed over.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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
};

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
  std::shared_ptr<LateRequest> request;  ///< of all claims that ask for the same; null: it is this claim's alone
  std::uint64_t number = 0;              ///< no other choice has or had it
  std::uint64_t asked_at = 0;
  boost::unordered_flat_map<std::uint64_t, bool> competes_with;  ///< by number: may both take the same volume?
  std::optional<bool> is_of_nodes;                               ///< see LateChoices::is_of_nodes
  VolumesByLabel by_label;  ///< the candidates, once they are looked for by node; see LateChoices::together
};

/// An unbound claim of a class that waits for its first consumer.
struct LateClaim {
  const PersistentVolumeClaim* claim = nullptr;
  std::shared_ptr<LateChoice> choice;
};

/// What is done for a pod on a node.
struct VolumeChoice {
  std::vector<std::pair<const PersistentVolumeClaim*, PooledString>> bound;
  std::vector<const PersistentVolumeClaim*> made;
};

/// A table of choices by what claims ask for.
class LateChoices {
 public:
  explicit LateChoices(VolumeBook& book) : book_(book) {}
  LateClaim of(const PersistentVolumeClaim& claim, const StorageClass& storage_class);
  /// Touches the pods that depend on a request to one of these classes for which other nodes will do than they know.
  /// O(requests to the classes).
  void settle(std::span<const PooledString> classes);
  /// The nodes where the claim by itself can be met; null: all; absent: there are too many terms to say.
  const std::optional<std::shared_ptr<const VolumeTerms>>& alone(const LateClaim& late);
  using EachNode = std::function<void(const std::function<void(const PooledString& name, const Labels& labels)>&)>;
  /// The nodes where claims that may take the same volume can all be met, asked one by one; pods whose claims ask for
  /// the same share the answer. Cost: O(nodes x claims), and O(volumes of the classes) once per change of them.
  std::shared_ptr<const VolumeTerms> together(std::span<const LateClaim> claims, const EachNode& each_node);
  /// Nothing where the node will not do. `labels`: of the node, its name among them. O(volumes that they allow), and
  /// O(volumes of the classes) once per change of them.
  std::optional<VolumeChoice> choose(std::span<const LateClaim> claims, const PooledString& node, const Labels& labels);
  /// Whether one of the claims gets volumes that are bound to a node, as the one with these labels has some: other pods
  /// may have taken them. O(nodes) once for claims that ask for the same and a list of volumes.
  bool is_of_nodes(std::span<const LateClaim> claims, const Labels& labels, const EachNode& each_node) const;
  std::uint64_t nodes_asked() const { return nodes_asked_; }  // for tests: by `together`
  std::uint64_t made() const { return made_; }                // for tests: lists of volumes, and terms of them

 private:
  /// A claim without what tells it apart from others that ask for the same.
  struct Hash {
    std::size_t operator()(const PersistentVolumeClaim& asked) const;
  };
  /// A request, as long as its choice is known or pods depend on it.
  struct Known {
    std::shared_ptr<LateRequest> request;
    std::shared_ptr<LateChoice> choice;  ///< null: forgotten
  };
  bool has_dependents(const PersistentVolumeClaim& asked, const Known& known) const;
  bool is_full() const;
  void forget_old();
  void forget(Known& known);
  void renew(Known& known, const PersistentVolumeClaim& claim, const StorageClass& storage_class);
  void report(LateChoice& choice, const PooledString& class_name);
  std::shared_ptr<LateChoice> make(const PersistentVolumeClaim& claim, const StorageClass& storage_class);
  void drop_taken(const LateClaim& late);
  void sort_by_label(const LateClaim& late);
  void renew_makes(LateChoice& choice, const PersistentVolumeClaim& claim, const StorageClass& storage_class);

  /// An answer of `together`, and of when.
  struct Together {
    std::vector<std::uint64_t> choices;               ///< numbers, by ascending size of their claims
    std::vector<VolumeBook::ClassEditions> editions;  ///< of the classes of these
    std::uint64_t nodes_edition = 0;
    std::shared_ptr<const VolumeTerms> nodes;
  };

  VolumeBook& book_;
  std::vector<Together> together_;
  boost::unordered_flat_map<PersistentVolumeClaim, Known, Hash> known_;
  std::size_t choices_ = 0;     ///< of those known
  std::size_t candidates_ = 0;  ///< of these, at most
  std::uint64_t made_ = 0, nodes_asked_ = 0, asked_ = 0, requests_ = 0;
};

/// Whether two of the claims may take the same volume.
bool do_compete(std::span<const LateClaim> claims);

}  // namespace ashlar::kube
