// server_fields: what the API server's own description of its objects has and this release does not know, so that an
// administrator hears of it before a pod uses it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubeclient/api.h"

namespace ashlar::kube {

/// "PodSpec.evictionResponders": fields of pods, nodes, PodGroups, the objects about volumes and what they hold, in the
/// order of the text. `openapi`: OpenAPI v3 of one group of the API; kInvalid if it is none.
Result<std::vector<std::string>> unknown_server_fields(std::string_view openapi);  // for tests

/// Asks the server for its descriptions, some megabytes of JSON, one after the other. An error: nothing was found, and
/// not all could be read.
void ask_unknown_server_fields(Api& api, std::function<void(Result<std::vector<std::string>>)> on_found);

}  // namespace ashlar::kube
