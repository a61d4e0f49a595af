// dotprod: the published DotProd of the FGD experiments, after Tetris (SIGCOMM'14): the smaller the product of free and
// requested amounts, the better. Points = int(100 x (1 - (cpu free/128000 x cpu requested/128000 + gpu free/8000 x gpu
// requested/8000) / 2)), each quotient taken first.
// Example: an empty node of 64000 milli-cores and 8000 milli-GPU, requested 16000 and 1000: int(100 x (1 - (0.0625 +
// 0.125)/2)) = 90.
// Cost: a dozen double operations per node, vectorised.
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void add_dotprod(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
