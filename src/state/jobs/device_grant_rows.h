// DeviceGrantRows: the grants of placed members that hold something else of their devices than they request, each
// distinct list once. Rows are given out by events alone; those that no member names are used again once they are as
// many as the others, so a trial that takes a member off its node finds its row when it puts it back.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/digest.h"
#include "base/id.h"
#include "model/device_grant.h"

namespace ashlar {

class DeviceGrantRows {
 public:
  /// Nothing for none.
  std::span<const DeviceGrant> of(DeviceGrantsId id) const {
    return id.is_none() ? std::span<const DeviceGrant>() : std::span<const DeviceGrant>(rows_[id.row()]);
  }
  /// A digest that goes on with the grants of the row.
  std::uint64_t digest(DeviceGrantsId id, std::uint64_t before) const {
    std::uint64_t all = before;
    for (const DeviceGrant& grant : rows_[id.row()]) {
      const DeviceShare& share = grant.share;
      all = hash_combine(all, (std::uint64_t{share.slices} << 32) + static_cast<std::uint64_t>(share.milli.value));
      all = hash_combine(all, static_cast<std::uint64_t>(share.memory.value));
    }
    return all;
  }
  /// The row of these grants, none for an empty list. Cost: O(log rows), O(rows) if a row is used again.
  DeviceGrantsId intern(const DeviceGrants& grants) {
    if (grants.empty()) return DeviceGrantsId::none();
    const auto known = row_of_.find(grants);
    if (known != row_of_.end()) return DeviceGrantsId(known->second);
    std::uint32_t row = static_cast<std::uint32_t>(rows_.size());
    if (rows_.size() >= 2 * used_ + kUnusedMax) {
      for (row = 0; uses_[row] > 0;) ++row;
      row_of_.erase(rows_[row]);
      rows_[row] = grants;
    } else {
      rows_.push_back(grants);
      uses_.push_back(0);
    }
    row_of_.emplace(grants, row);
    return DeviceGrantsId(row);
  }
  /// A placed member names the row from now on (1), or no longer (-1).
  void use(DeviceGrantsId id, int by) {
    if (id.is_none()) return;
    std::uint32_t& uses = uses_[id.row()];
    ASHLAR_CHECK(by > 0 || uses > 0);
    used_ -= uses > 0 ? 1 : 0;
    uses += static_cast<std::uint32_t>(by);
    used_ += uses > 0 ? 1 : 0;
  }
  std::size_t rows() const { return rows_.size(); }
  const std::vector<std::uint32_t>& uses() const { return uses_; }

 private:
  friend struct StateFields;
  static constexpr std::size_t kUnusedMax = 16;  ///< rows that are kept though no member names them

  /// Everything but the rows, from how many members name each.
  void rebuild(std::vector<std::uint32_t> uses) {
    uses_ = std::move(uses);
    used_ = 0;
    row_of_.clear();
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      used_ += uses_[row] > 0 ? 1 : 0;
      row_of_.emplace(rows_[row], static_cast<std::uint32_t>(row));
    }
  }

  std::vector<DeviceGrants> rows_;
  std::vector<std::uint32_t> uses_;  ///< by placed members; recounted when a state is read back
  std::size_t used_ = 0;             ///< rows that a member names
  std::map<DeviceGrants, std::uint32_t> row_of_;
};

}  // namespace ashlar
