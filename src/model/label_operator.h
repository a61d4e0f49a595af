// label_operator: what the operators of label expressions mean, for labels of nodes, pods and namespaces alike.
#pragma once

#include "model/constraint.h"

namespace ashlar {

/// Whether an expression with this operator holds on an object that has its key or not, with one of the listed values
/// or not. As in Kubernetes a missing key satisfies kNotIn and kDoesNotExist only. kGreater and kLess are of numbers:
/// no listed value satisfies them.
constexpr bool holds(LabelExpression::Op op, bool is_present, bool is_listed) {
  switch (op) {
    case LabelExpression::Op::kIn:
      return is_present && is_listed;
    case LabelExpression::Op::kNotIn:
      return !is_present || !is_listed;
    case LabelExpression::Op::kExists:
      return is_present;
    case LabelExpression::Op::kDoesNotExist:
      return !is_present;
    case LabelExpression::Op::kGreater:
    case LabelExpression::Op::kLess:
      return false;
  }
  return false;
}

}  // namespace ashlar
