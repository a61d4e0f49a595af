#include "oracle/binding_rules.h"

#include "cluster/filters/storage_objects.h"

namespace ashlar::binding {
namespace {

/// The rules of one world, asked one after the other.
class Rules {
 public:
  Rules(const World& world, const Seen& seen, const std::map<std::string, Names>& made)
      : world_(world), seen_(seen), made_(made) {}

  std::vector<std::string> broken() {
    for (const auto& [pod, claims] : world_.claims_of) {
      const auto is = seen_.pods.find(pod);
      if (is == seen_.pods.end() || is->second.node.empty()) continue;
      for (const std::string& claim : claims) check_claim(pod, is->second.node, claim);
    }
    for (const auto& [claim, pods] : users_)
      if (world_.for_one_pod.contains(claim) && pods.size() > 1) say("claim " + claim + " is for one pod and has more");
    for (const auto& [node, most] : world_.volumes_max)
      if (plain_on_[node].size() > most) say("node " + node + " has more volumes than its driver attaches");
    check_volumes();
    return std::move(broken_);
  }

 private:
  void say(std::string what) { broken_.push_back(std::move(what)); }

  void check_claim(const std::string& pod, const std::string& node, const std::string& name) {
    users_[name].insert(pod);
    const auto found = seen_.claims.find(name);
    if (found == seen_.claims.end()) return say("pod " + pod + " is bound without its claim " + name);
    const SeenClaim& claim = found->second;
    if (claim.volume.empty() || !claim.is_completed) return say("pod " + pod + " is bound before its claim " + name);
    const auto volume = seen_.volumes.find(claim.volume);
    if (volume == seen_.volumes.end() || volume->second.claim != name || volume->second.claim_uid != claim.uid)
      say("volume " + claim.volume + " is not that of claim " + name);
    const auto offered = world_.nodes_of_volume.find(claim.volume);
    const auto made = made_.find(claim.volume);
    const bool is_offered = offered != world_.nodes_of_volume.end();
    if (!is_offered && made == made_.end()) return say("nobody made volume " + claim.volume);
    if (!(is_offered ? offered->second : made->second).contains(node))
      say("pod " + pod + " is on " + node + ", where its volume " + claim.volume + " cannot be used");
    const auto of = world_.made.find(claim.class_name);
    const bool is_plain = is_offered ? world_.plain_volumes.contains(claim.volume)
                                     : of != world_.made.end() && of->second.driver == filters::kPlainDriver;
    if (is_plain) plain_on_[node].insert(claim.volume);
  }

  void check_volumes() {
    std::map<std::string, std::string> claim_of;
    for (const auto& [name, claim] : seen_.claims)
      if (!claim.volume.empty() && !claim_of.emplace(claim.volume, name).second)
        say("volume " + claim.volume + " is that of two claims: " + name + " and " + claim_of[claim.volume]);
  }

  const World& world_;
  const Seen& seen_;
  const std::map<std::string, Names>& made_;
  std::map<std::string, Names> users_, plain_on_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_rules(const World& world, const Seen& seen, const std::map<std::string, Names>& made) {
  return Rules(world, seen, made).broken();
}

std::string plain_name(const World& world, std::string name) {
  const std::size_t at = name.find(world.prefix);
  return at == std::string::npos ? name : name.erase(at, world.prefix.size());
}

std::string outcome_of(const World& world, const Seen& seen, const std::string& pod) {
  const auto is = seen.pods.find(pod);
  if (is == seen.pods.end()) return "gone";
  std::string text = is->second.node.empty() ? "waits" : "bound to " + plain_name(world, is->second.node);
  const auto claims = world.claims_of.find(pod);
  if (claims == world.claims_of.end()) return text;
  for (const std::string& name : claims->second) {
    const auto claim = seen.claims.find(name);
    const bool is_bound = claim != seen.claims.end() && !claim->second.volume.empty();
    text += ", " + plain_name(world, name) + ": " + (is_bound ? plain_name(world, claim->second.volume) : "unbound");
  }
  return text;
}

std::string manifest_of(const World& world) {
  std::string text;
  const auto add = [&](const std::string& body) { text += "---\n" + body + "\n"; };
  for (const DrawnNode& node : world.nodes) add(node.body);
  for (const DrawnObject& object : world.objects) add(object.body);
  for (std::size_t i = 0; i < world.steps.size(); ++i) {
    const Step& step = world.steps[i];
    text += "# step " + std::to_string(i);
    if (step.kind == Step::Kind::kRemoval) text += ": pod " + world.steps[step.removed].pod.name + " is deleted";
    text += "\n";
    for (const DrawnObject& claim : step.claims) add(claim.body);
    if (step.kind == Step::Kind::kPod) add(step.pod.body);
    if (step.kind == Step::Kind::kVolume) add(step.volume.body);
  }
  return text;
}

}  // namespace ashlar::binding
