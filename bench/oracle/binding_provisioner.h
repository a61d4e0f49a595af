// BindingProvisioner: imitates what makes volumes for claims: it obeys the node that a scheduler has selected and the
// topology of the class, and for some claims fails the first time, which gives the node back.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kubeclient/api.h"
#include "oracle/binding_seen.h"
#include "oracle/binding_world.h"

namespace ashlar::binding {

class BindingProvisioner {
 public:
  explicit BindingProvisioner(kube::Api& api) : api_(api) {}
  /// Acts on what is seen. Cost: one or two writes for each claim that the controller has handed over.
  void act(const Seen& seen, const World& world);
  void forget();

  /// Where each volume can be used that was made so far.
  const std::map<std::string, Names>& made() const { return made_; }
  std::size_t failed() const { return failed_; }
  /// Why the first write that failed did; empty: none did.
  const std::string& trouble() const { return trouble_; }

 private:
  void make(const std::string& name, const SeenClaim& claim, const World& world, const MadeClass& of);
  /// Waits for the answer, so that what is seen next has it.
  void send(http::Request request);

  kube::Api& api_;
  std::set<std::string> served_, failed_once_;  ///< uids of claims
  std::map<std::string, Names> made_;
  std::size_t failed_ = 0;
  std::string trouble_;
};

}  // namespace ashlar::binding
