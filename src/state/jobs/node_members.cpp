#include "state/jobs/node_members.h"

#include <algorithm>

#include "base/grown.h"

namespace ashlar {

std::vector<MemberId> NodeMembers::on(NodeId node) const {
  std::vector<MemberId> members;
  each_on(node, [&](MemberId m) { members.push_back(m); });
  std::sort(members.begin(), members.end());
  return members;
}

void NodeMembers::add(MemberId member, NodeId node) {
  MemberId& first = grown(first_, node.row());
  grown(links_, member.row()) = {MemberId::none(), first};
  if (!first.is_none()) links_[first.row()].before = member;
  first = member;
}

void NodeMembers::remove(MemberId member, NodeId node) {
  const Link link = links_[member.row()];
  (link.before.is_none() ? first_[node.row()] : links_[link.before.row()].next) = link.next;
  if (!link.next.is_none()) links_[link.next.row()].before = link.before;
}

}  // namespace ashlar
