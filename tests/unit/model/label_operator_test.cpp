// The operators of label expressions, as Kubernetes reads them.
#include "model/label_operator.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

TEST(LabelOperator, AMissingKeySatisfiesOnlyTheNegativeOperators) {
  using enum LabelExpression::Op;
  struct Row {
    LabelExpression::Op op;
    bool if_missing, if_listed, if_another;
  };
  constexpr Row kRows[] = {{kIn, false, true, false},       {kNotIn, true, false, true},
                           {kExists, false, true, true},    {kDoesNotExist, true, false, false},
                           {kGreater, false, false, false}, {kLess, false, false, false}};
  for (const Row& row : kRows) {
    const int op = static_cast<int>(row.op);
    EXPECT_EQ(holds(row.op, false, false), row.if_missing) << op;
    EXPECT_EQ(holds(row.op, true, true), row.if_listed) << op;
    EXPECT_EQ(holds(row.op, true, false), row.if_another) << op;
  }
}

}  // namespace
}  // namespace ashlar
