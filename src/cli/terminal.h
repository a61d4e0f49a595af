// Terminal: what the other end of a descriptor can show. A terminal whose TERM is unset or "dumb" is a printer: no cursor, no colour.
#pragma once

namespace ashlar::cli {

/// A terminal on which the cursor can be moved.
bool is_screen(int descriptor);
/// The same, and NO_COLOR does not forbid colour.
bool wants_colour(int descriptor);

}  // namespace ashlar::cli
