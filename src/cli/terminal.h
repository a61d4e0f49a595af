// Terminal: the capabilities of a descriptor's terminal. A terminal whose TERM is unset or "dumb" is treated as a
// printer: no cursor, no colour.
#pragma once

namespace ashlar::cli {

/// A terminal on which the cursor can be moved.
bool is_screen(int descriptor);
/// The same, and NO_COLOR does not forbid colour.
bool wants_colour(int descriptor);

}  // namespace ashlar::cli
