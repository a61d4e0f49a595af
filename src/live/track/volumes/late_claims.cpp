#include "live/track/volumes/late_claims.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>

#include "base/digest.h"
#include "live/track/hashes.h"

namespace ashlar::kube {
namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
/// What it costs to list a volume, and to compare the list with another one.
constexpr std::uint64_t kLooksToList = 4;
/// Terms of one list before they are merged; beyond it nodes are asked one by one.
constexpr std::size_t kTermsMax = 4096;

bool is_of_claim(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return volume.has_claim && volume.claim_ns == claim.ns && volume.claim_name == claim.name &&
         (volume.claim_uid.empty() || volume.claim_uid == claim.uid);
}

/// Whether the volume could be the claim's at all, apart from its class, its labels and its node.
bool is_alike(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return volume.problem.empty() && volume.capacity >= claim.request.value_or(0) &&
         volume.volume_mode == claim.volume_mode && volume.attributes_class == claim.attributes_class &&
         volume.deletion_requested.value == 0;
}

bool has_access_modes(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return std::ranges::all_of(claim.access_modes, [&](const PooledString& mode) {
    return std::ranges::find(volume.access_modes, mode) != volume.access_modes.end();
  });
}

/// Whether an offered one will do.
bool will_do_for(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return is_alike(volume, claim) && has_access_modes(volume, claim) &&
         (!claim.selector.present || matches(claim.selector, volume.labels));
}

AnyOf capacity_terms(const VolumeBook& book, const PersistentVolumeClaim& claim, const StorageClass& storage_class) {
  const CsiDriver* driver = book.driver(storage_class.provisioner);
  if (!claim.request || driver == nullptr || !driver->has_capacities) return std::nullopt;
  AnyOf terms = std::vector<NodeTerm>();
  for (const CsiStorageCapacity* capacity : book.capacities_of_class(storage_class.name))
    if (capacity->largest_volume && *capacity->largest_volume >= *claim.request)
      terms = either(std::move(terms), selector_terms(capacity->topology));
  if (terms) merge_terms(*terms);
  return terms;
}

/// Whether nobody else has taken it since it was listed.
bool is_open(const VolumeBook& book, const LateChoice::Candidate& candidate, const PersistentVolumeClaim& claim) {
  if (book.is_offered(candidate.volume)) return true;
  const PersistentVolume* volume = book.volume(candidate.volume);
  return volume != nullptr && is_of_claim(*volume, claim);
}

std::optional<std::shared_ptr<const VolumeTerms>> terms_alone(const VolumeBook& book, const LateChoice& choice,
                                                              const PersistentVolumeClaim& claim) {
  AnyOf terms = std::vector<NodeTerm>();
  for (const LateChoice::Candidate& c : choice.candidates)
    if (is_open(book, c, claim)) terms = either(std::move(terms), c.nodes);
  if (choice.can_be_made) {
    std::optional<AnyOf> made = both(choice.topologies, choice.capacities, kTermsMax);
    if (!made) return std::nullopt;
    terms = either(std::move(terms), *std::move(made));
  }
  if (claim.has_selected_node) {
    std::optional<AnyOf> there =
        both(AnyOf(std::vector<NodeTerm>{named_nodes({claim.selected_node})}), terms, kTermsMax);
    if (!there) return std::nullopt;
    terms = *std::move(there);
  }
  if (!terms) return nullptr;
  merge_terms(*terms);
  if (terms->size() > kPodTermsMax) return std::nullopt;
  return terms_of({*std::move(terms)});
}

/// The volume that names the claim beforehand: no other one will do.
const PersistentVolume* bound_beforehand(const VolumeBook& book, const PersistentVolumeClaim& claim) {
  for (const PersistentVolume* volume : book.volumes_of_claim(claim))
    if (volume->class_name == claim.class_name && is_of_claim(*volume, claim) && is_alike(*volume, claim))
      return volume;
  return nullptr;
}

/// In the order in which they get volumes.
std::vector<const LateClaim*> by_size(std::span<const LateClaim> claims) {
  std::vector<const LateClaim*> out;
  for (const LateClaim& late : claims) out.push_back(&late);
  std::ranges::stable_sort(out, {}, [](const LateClaim* late) { return late->claim->request.value_or(0); });
  return out;
}

/// The smallest first, until `visit(candidate)` returns true; those that the node's labels rule out may be left out.
template <class Visit>
void each_candidate(const LateChoice& choice, const Labels& labels, Visit&& visit) {
  if (choice.by_label.size() == choice.candidates.size())
    return choice.by_label.each(labels, [&](std::uint32_t at) { return visit(choice.candidates[at]); });
  for (const LateChoice::Candidate& c : choice.candidates)
    if (visit(c)) return;
}

bool is_met_by_new(const LateChoice& choice, const Labels& labels) {
  return choice.can_be_made && holds(choice.topologies, labels) && holds(choice.capacities, labels);
}

VolumeChoice nothing_for(const LateClaim& late) { return {.unmet = &late, .bound = {}, .made = {}}; }

/// `labels`: of the node, its name among them. O(volumes of the class), or those that the node's labels allow, once
/// they are sorted by label.
VolumeChoice choose_volumes(const VolumeBook& book, std::span<const LateClaim> claims, const PooledString& node,
                            const Labels& labels) {
  VolumeChoice choice;
  std::vector<PooledString> taken;
  for (const LateClaim* late : by_size(claims)) {
    if (late->claim->has_selected_node && late->claim->selected_node != node) return nothing_for(*late);
    const LateChoice::Candidate* found = nullptr;
    each_candidate(*late->choice, labels, [&](const LateChoice::Candidate& c) {
      if (!holds(c.nodes, labels) || std::ranges::find(taken, c.volume) != taken.end() ||
          !is_open(book, c, *late->claim))
        return false;
      found = &c;
      return true;
    });
    if (found != nullptr) {
      taken.push_back(found->volume);
      choice.bound.emplace_back(late->claim, found->volume);
    } else if (is_met_by_new(*late->choice, labels)) {
      choice.made.push_back(late->claim);
    } else {
      return nothing_for(*late);
    }
  }
  return choice;
}

}  // namespace

std::size_t LateChoices::Hash::operator()(const PersistentVolumeClaim& asked) const {
  std::uint64_t h = hash_combine(asked.class_name.hash(), static_cast<std::uint64_t>(asked.request.value_or(-1)));
  h = hash_combine(h, hash_of(asked.selector));
  h = hash_combine(h, asked.attributes_class.hash());
  for (const PooledString& mode : asked.access_modes) h = hash_combine(h, mode.hash());
  return static_cast<std::size_t>(hash_combine(h, asked.volume_mode.hash()));
}

std::size_t LateChoices::NumbersHash::operator()(const Numbers& numbers) const {
  std::uint64_t h = numbers.size();
  for (const std::uint64_t number : numbers) h = hash_combine(h, number);
  return static_cast<std::size_t>(h);
}

void LateChoices::renew_makes(LateChoice& choice, const PersistentVolumeClaim& claim,
                              const StorageClass& storage_class) {
  const PooledString& provisioner = storage_class.provisioner;
  choice.can_be_made = !provisioner.empty() && provisioner != kNoProvisioner && storage_class.problem.empty();
  choice.topologies = topology_terms(storage_class);
  choice.capacities = capacity_terms(book_, claim, storage_class);
  choice.editions.makes = book_.editions(claim.class_name).makes;
}

std::shared_ptr<LateChoice> LateChoices::make(const PersistentVolumeClaim& claim, const StorageClass& storage_class) {
  ++made_;
  auto choice = std::make_shared<LateChoice>();
  choice->number = made_;
  choice->editions = book_.editions(claim.class_name);
  renew_makes(*choice, claim, storage_class);
  if (const PersistentVolume* own = claim.has_selected_node ? nullptr : bound_beforehand(book_, claim); own != nullptr)
    choice->candidates = {{own->name, own->capacity, affinity_terms(*own)}};
  else if (!claim.has_selected_node)
    for (const PersistentVolume* volume : book_.offered_volumes(claim.class_name)) {
      looks_ += kLooksToList;
      if (will_do_for(*volume, claim))
        choice->candidates.push_back({volume->name, volume->capacity, affinity_terms(*volume)});
    }
  std::ranges::stable_sort(choice->candidates, {}, &LateChoice::Candidate::capacity);
  return choice;
}

void LateChoices::drop_taken(const LateClaim& late) {
  if (late.claim->has_selected_node) return;
  const std::size_t dropped = std::erase_if(late.choice->candidates, [&](const LateChoice::Candidate& c) {
    return !book_.is_offered_by_server(c.volume) && !is_open(book_, c, *late.claim);
  });
  if (dropped > 0) late.choice->by_label = {};
}

void LateChoices::sort_by_label(const LateClaim& late) {
  LateChoice& choice = *late.choice;
  if (choice.by_label.size() == choice.candidates.size()) return;
  drop_taken(late);
  looks_ += 2 * choice.candidates.size();
  std::vector<const AnyOf*> nodes;
  for (const LateChoice::Candidate& c : choice.candidates) nodes.push_back(&c.nodes);
  choice.by_label = VolumesByLabel(nodes);
}

std::shared_ptr<const VolumeTerms> LateChoices::together(std::span<const LateClaim> claims, const EachNode& each_node) {
  Numbers numbers;
  Together asked{.editions = {}, .nodes_edition = book_.nodes_edition(), .nodes = nullptr};
  for (const LateClaim* late : by_size(claims)) {
    numbers.push_back(late->choice->number);
    asked.editions.push_back(book_.editions(late->claim->class_name));
  }
  const bool is_shared =
      std::ranges::all_of(claims, [](const LateClaim& late) { return late.choice->request != nullptr; });
  const Together* known = is_shared ? together_.find(numbers) : nullptr;
  if (known != nullptr && known->editions == asked.editions && known->nodes_edition == asked.nodes_edition)
    return known->nodes;
  for (const LateClaim& late : claims) sort_by_label(late);
  std::vector<PooledString> names;
  each_node([&](const PooledString& name, const Labels& labels) {
    ++nodes_asked_;
    ++looks_;
    if (choose_volumes(book_, claims, name, labels).unmet == nullptr) names.push_back(name);
  });
  asked.nodes = terms_of({std::vector<NodeTerm>{named_nodes(std::move(names))}});
  return is_shared ? (together_[numbers] = std::move(asked)).nodes : asked.nodes;
}

const std::optional<std::shared_ptr<const VolumeTerms>>& LateChoices::alone(const LateClaim& late) {
  LateChoice& choice = *late.choice;
  const VolumeBook::ClassEditions editions = book_.editions(late.claim->class_name);
  if (choice.is_alone_known && choice.alone_editions == editions) return choice.alone;
  ++made_;
  looks_ += choice.candidates.size();
  drop_taken(late);
  choice.alone = terms_alone(book_, choice, *late.claim);
  choice.alone_editions = editions;
  choice.is_alone_known = true;
  if (choice.request) report(choice, late.claim->class_name);
  return choice.alone;
}

/// An answer that the pods of the request do not know touches them.
void LateChoices::report(LateChoice& choice, const PooledString& class_name) {
  LateRequest& request = *choice.request;
  const auto is_known = [&] {
    if (!request.is_reported || choice.alone.has_value() != request.reported.has_value()) return false;
    if (choice.alone == request.reported) return true;
    const VolumeTerms *is = choice.alone->get(), *was = request.reported->get();
    return is != nullptr && was != nullptr && is->hash == was->hash && is->lists == was->lists;
  };
  if (is_known()) {
    choice.alone = request.reported;  // pods share the object
    return;
  }
  if (request.is_reported) book_.touch({VolumeTopic::Kind::kRequest, {}, class_name, request.number});
  request.reported = choice.alone;
  request.is_reported = true;
}

bool LateChoices::has_dependents(const PersistentVolumeClaim& asked, const LateRequest& request) const {
  return !book_.dependents({VolumeTopic::Kind::kRequest, {}, asked.class_name, request.number}).empty();
}

/// A pod that is being evaluated has its choices, and does not depend on their requests yet.
bool LateChoices::is_needed(const PersistentVolumeClaim& asked, const std::shared_ptr<LateRequest>& request) const {
  return request.use_count() > 1 || has_dependents(asked, *request);
}

void LateChoices::make_room() {
  while (choices_.size() > 0 && is_full()) {
    auto [asked, known] = choices_.forget_one();
    candidates_ -= known.listed;
    known.choice.reset();
    const auto request = requests_.find(asked);
    if (!is_needed(asked, request->second)) requests_.erase(request);
  }
  if (requests_.size() > 2 * requests_kept_ + 2 * kKnownMax) forget_requests();
}

void LateChoices::forget_requests() {
  boost::unordered::erase_if(requests_, [&](const auto& one) { return !is_needed(one.first, one.second); });
  requests_kept_ = requests_.size();
}

void LateChoices::renew(Known& known, const std::shared_ptr<LateRequest>& request, const PersistentVolumeClaim& claim,
                        const StorageClass& storage_class) {
  const VolumeBook::ClassEditions editions = book_.editions(claim.class_name);
  if (!known.choice || known.choice->editions.offers != editions.offers) {
    known.choice = make(claim, storage_class);
    known.choice->request = request;
    candidates_ -= known.listed;
    known.listed = known.choice->candidates.size();
    candidates_ += known.listed;
  } else if (known.choice->editions.makes != editions.makes) {
    renew_makes(*known.choice, claim, storage_class);
  }
}

LateClaim LateChoices::of(const PersistentVolumeClaim& claim, const StorageClass& storage_class) {
  if (claim.has_selected_node || bound_beforehand(book_, claim) != nullptr) return {&claim, make(claim, storage_class)};
  const PersistentVolumeClaim asked = request_of(claim);
  if (choices_.find(asked) == nullptr) make_room();
  std::shared_ptr<LateRequest>& request = requests_[asked];
  if (!request) request = std::make_shared<LateRequest>(LateRequest{.number = ++request_numbers_, .reported = {}});
  Known& known = choices_[asked];
  renew(known, request, claim, storage_class);
  return {&claim, known.choice};
}

void LateChoices::note_changed(std::span<const PooledString> classes) {
  if (classes.empty()) return;
  for (const auto& [asked, request] : requests_) {
    if (request->is_unsettled || std::ranges::find(classes, asked.class_name) == classes.end()) continue;
    if (!has_dependents(asked, *request)) continue;
    request->is_unsettled = true;
    unsettled_.emplace_back(asked, request);
  }
}

void LateChoices::settle(std::uint64_t looks_max) {
  const std::uint64_t before = looks_;
  while (!unsettled_.empty() && looks_ - before < looks_max) {
    const auto [asked, request] = std::move(unsettled_.front());
    unsettled_.pop_front();
    request->is_unsettled = false;
    const StorageClass* storage_class = book_.storage_class(asked.class_name);
    // without its class its pods know that
    if (storage_class == nullptr || !has_dependents(asked, *request)) continue;
    Known once;
    Known* known = choices_.find(asked);
    if (known == nullptr) known = is_full() ? &once : &choices_[asked];
    renew(*known, request, asked, *storage_class);
    alone({&asked, known->choice});
    candidates_ -= once.listed;
  }
}

namespace {

bool share_a_volume(const LateChoice& a, const LateChoice& b) {
  if (&a == &b) return !a.candidates.empty();
  boost::unordered_flat_set<PooledString, std::hash<PooledString>> of_a;
  for (const LateChoice::Candidate& c : a.candidates) of_a.insert(c.volume);
  return std::ranges::any_of(b.candidates, [&](const LateChoice::Candidate& c) { return of_a.contains(c.volume); });
}

/// Candidates only become fewer: two choices that have none in common stay so, and those that had one are asked about
/// one by one, which is right for them too.
bool do_compete(const LateClaim& a, const LateClaim& b) {
  if (a.claim->class_name != b.claim->class_name) return false;  // volumes are of the claim's class
  if (a.choice->candidates.empty() || b.choice->candidates.empty()) return false;
  LateChoice& choice = *a.choice;
  if (const bool* known = choice.competes_with.find(b.choice->number); known != nullptr) return *known;
  return choice.competes_with[b.choice->number] = share_a_volume(choice, *b.choice);
}

}  // namespace

VolumeChoice LateChoices::choose(std::span<const LateClaim> claims, const PooledString& node, const Labels& labels) {
  for (const LateClaim& late : claims)
    if (late.choice->request) sort_by_label(late);
  return choose_volumes(book_, claims, node, labels);
}

std::int64_t LateChoices::left_at(const LateClaim& late, const Labels& labels) {
  if (is_met_by_new(*late.choice, labels)) return kUnlimited;
  sort_by_label(late);
  std::int64_t left = 0;
  each_candidate(*late.choice, labels, [&](const LateChoice::Candidate& c) {
    left += holds(c.nodes, labels) && is_open(book_, c, *late.claim) ? 1 : 0;
    return false;
  });
  return left;
}

bool LateChoices::is_of_nodes(std::span<const LateClaim> claims, const Labels& labels,
                              const EachNode& each_node) const {
  return std::ranges::any_of(claims, [&](const LateClaim& late) {
    if (late.claim->has_selected_node) return false;
    LateChoice& choice = *late.choice;
    if (choice.is_of_nodes) return *choice.is_of_nodes;
    const LateChoice::Candidate* here = nullptr;
    each_candidate(choice, labels, [&](const LateChoice::Candidate& c) {
      if (holds(c.nodes, labels)) here = &c;
      return here != nullptr;
    });
    if (here == nullptr) return false;
    std::size_t nodes = 0;
    each_node([&](const PooledString&, const Labels& of) { nodes += nodes < 2 && holds(here->nodes, of) ? 1 : 0; });
    choice.is_of_nodes = nodes == 1;
    return nodes == 1;
  });
}

PersistentVolumeClaim request_of(const PersistentVolumeClaim& claim) {
  PersistentVolumeClaim asked;
  asked.class_name = claim.class_name;
  asked.request = claim.request;
  asked.access_modes = claim.access_modes;
  asked.volume_mode = claim.volume_mode;
  asked.attributes_class = claim.attributes_class;
  asked.selector = claim.selector;
  return asked;
}

bool do_compete(std::span<const LateClaim> claims) {
  for (std::size_t i = 1; i < claims.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (do_compete(claims[i], claims[k])) return true;
  return false;
}

}  // namespace ashlar::kube
