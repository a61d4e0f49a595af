#include "sim/trace/openb.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "sim/trace/csv.h"

namespace ashlar::sim {
namespace {

constexpr std::int64_t kDevicesPerNode = 128;  ///< width of the engine's device mask
constexpr std::int64_t kAmountMax = std::int64_t{1} << 50;
constexpr std::int64_t kMilliCoresMax = std::int64_t{1} << 30;  ///< a million cores
/// 64 TiB: sums of bytes over 100,000 rows stay within int64
constexpr std::int64_t kMemoryMax = std::int64_t{1} << 26;
constexpr std::int64_t kSecondsMax = std::int64_t{1} << 40;

constexpr IntegerForm kCpu{0, kMilliCoresMax, "milli-cores, a whole number 0..1073741824"};
constexpr IntegerForm kMemory{0, kMemoryMax, "MiB, a whole number 0..67108864"};
constexpr IntegerForm kNodeGpus{0, kDevicesPerNode, "the number of GPUs of the node, a whole number 0..128"};
constexpr IntegerForm kPodGpus{0, kDevicesPerNode, "the number of GPUs of the pod, a whole number 0..128"};
constexpr IntegerForm kMilliEach{0, kAmountMax,
                                 "thousandths of each GPU, a whole number from 0 (above 1000 counts as 1000)"};
constexpr IntegerForm kTime{0, kSecondsMax, "seconds since the start of the trace, a whole number from 0"};

std::optional<Millis> time_of(CsvReader& csv, CsvColumn column) {
  const std::optional<std::int64_t> seconds = csv.integer_if_any(column, kTime);
  return seconds ? std::optional(Millis(*seconds * 1000)) : std::nullopt;
}

struct PodColumns {
  CsvColumn name, cpu, memory, gpus, gpu_milli, gpu_spec, qos, phase, created, deleted, scheduled;
};

PodColumns pod_columns(CsvReader& csv) {
  return {.name = csv.column("name"),
          .cpu = csv.column("cpu_milli"),
          .memory = csv.column("memory_mib"),
          .gpus = csv.column("num_gpu"),
          .gpu_milli = csv.column("gpu_milli"),
          .gpu_spec = csv.find("gpu_spec"),
          .qos = csv.find("qos"),
          .phase = csv.find("pod_phase"),
          .created = csv.find("creation_time"),
          .deleted = csv.find("deletion_time"),
          .scheduled = csv.find("scheduled_time")};
}

/// Models of the node list; nothing if there is no list to compare with.
using KnownModels = std::optional<std::unordered_set<std::string>>;

/// Splits "A|B"; empty pieces, and models that no node has, are the reader's Error.
std::vector<std::string> models_of(CsvReader& csv, CsvColumn column, const KnownModels& known) {
  std::vector<std::string> models;
  std::string_view rest = csv.text(column);
  if (rest.empty()) return models;
  for (bool is_more = true; is_more;) {
    const std::size_t bar = rest.find('|');
    is_more = bar != std::string_view::npos;
    const std::string_view piece = rest.substr(0, bar);
    if (piece.empty()) csv.reject(column, "GPU models joined by | (or nothing for any model)");
    if (known && !known->contains(std::string(piece))) {
      std::vector<std::string> names(known->begin(), known->end());
      std::sort(names.begin(), names.end());
      std::string form = "a GPU model of the node list (";
      for (std::size_t i = 0; i < names.size(); ++i) form += (i == 0 ? "" : ", ") + names[i];
      csv.reject_piece(column, piece, names.empty() ? "nothing, because no node has GPUs" : form + ")");
    }
    models.emplace_back(piece);
    if (is_more) rest.remove_prefix(bar + 1);
  }
  return models;
}

void check_times(CsvReader& csv, const PodColumns& at, const OpenbPod& pod) {
  if (pod.created && pod.deleted && *pod.deleted < *pod.created)
    csv.reject(at.deleted, "a time not before creation_time");
  if (pod.created && pod.scheduled && *pod.scheduled < *pod.created)
    csv.reject(at.scheduled, "a time not before creation_time");
  if (pod.scheduled && pod.deleted && *pod.deleted < *pod.scheduled)
    csv.reject(at.scheduled, "a time not after deletion_time");
}

OpenbPod read_pod(CsvReader& csv, const PodColumns& at, const KnownModels& known) {
  OpenbPod pod;
  pod.name = csv.word(at.name, "the pod's name");
  pod.cpu = MilliCores(csv.integer(at.cpu, kCpu));
  pod.memory = MiB(csv.integer(at.memory, kMemory));
  pod.gpus = static_cast<std::int32_t>(csv.integer(at.gpus, kPodGpus));
  pod.milli_each =
      MilliGpu(static_cast<std::int32_t>(std::min<std::int64_t>(csv.integer(at.gpu_milli, kMilliEach), 1000)));
  if (pod.gpus > 1 && pod.milli_each.value < 1000)
    csv.reject(at.gpu_milli, "1000, because only a single GPU can be requested in part (num_gpu 1)");
  if (pod.gpus == 1 && pod.milli_each.value == 0) csv.reject(at.gpu_milli, "thousandths of the GPU, 1..1000");
  if (pod.gpus == 0 && pod.milli_each.value != 0) csv.reject(at.gpu_milli, "0, because num_gpu is 0");
  pod.gpu_spec = csv.text(at.gpu_spec);
  pod.models = models_of(csv, at.gpu_spec, known);
  pod.qos = csv.text(at.qos);
  pod.phase = csv.text(at.phase);
  pod.created = time_of(csv, at.created);
  pod.deleted = time_of(csv, at.deleted);
  pod.scheduled = time_of(csv, at.scheduled);
  check_times(csv, at, pod);
  return pod;
}

/// Space-separated numbers 0..bound-1.
std::vector<std::uint32_t> read_indices(CsvReader& csv, CsvColumn column, std::size_t bound, std::string_view of_what) {
  std::vector<std::uint32_t> indices;
  const std::string_view cell = csv.text(column);
  const char* at = cell.data();
  const char* const end = at + cell.size();
  while (!csv.failed()) {
    while (at != end && *at == ' ') ++at;
    if (at == end) break;
    std::uint32_t value = 0;
    const auto [stop, failure] = std::from_chars(at, end, value);
    if (failure != std::errc() || (stop != end && *stop != ' ') || value >= bound) {
      const auto* piece_end = std::find(at, end, ' ');
      csv.reject_piece(column, std::string_view(at, static_cast<std::size_t>(piece_end - at)),
                       "indices of " + std::string(of_what) + ", whole numbers 0.." +
                           std::to_string(bound == 0 ? 0 : bound - 1) + " separated by spaces");
      break;
    }
    indices.push_back(value);
    at = stop;
  }
  if (indices.empty()) csv.reject(column, "at least one index");
  return indices;
}

void check_permutation(CsvReader& csv, const std::vector<std::uint32_t>& ranks, std::size_t node_count) {
  const std::string form = "each rank 0.." + std::to_string(node_count - 1) + " once, one for each node";
  std::vector<bool> is_seen(node_count, false);
  for (std::uint32_t rank : ranks) {
    if (is_seen[rank])
      return csv.reject_line("values: expected " + form + ", got rank " + std::to_string(rank) + " twice");
    is_seen[rank] = true;
  }
  if (ranks.size() != node_count)
    csv.reject_line("values: expected " + form + ", got " + std::to_string(ranks.size()) + " ranks");
}

template <class Item>
std::vector<std::uint32_t> indices_by_name(const std::vector<Item>& items) {
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return items[a].name < items[b].name; });
  return order;
}

}  // namespace

Result<std::vector<OpenbNode>> read_openb_nodes(const std::string& path) {
  Result<CsvReader> csv = CsvReader::open(path);
  if (!csv) return csv.error();
  const CsvColumn name = csv->column("sn"), cpu = csv->column("cpu_milli"), memory = csv->column("memory_mib");
  const CsvColumn gpu = csv->column("gpu"), model = csv->column("model");
  std::vector<OpenbNode> nodes;
  std::unordered_set<std::string> names;
  while (csv->next_row()) {
    OpenbNode node;
    node.name = csv->word(name, "the node's name");
    if (!names.insert(node.name).second) csv->reject(name, "every node's name once");
    node.cpu = MilliCores(csv->integer(cpu, kCpu));
    node.memory = MiB(csv->integer(memory, kMemory));
    node.gpus = static_cast<std::int32_t>(csv->integer(gpu, kNodeGpus));
    node.model = csv->text(model);
    if (node.gpus > 0 && node.model.empty()) csv->reject(model, "the model of the node's GPUs");
    nodes.push_back(std::move(node));
  }
  if (csv->failed()) return csv->error();
  if (nodes.empty()) return invalid(path + ":2:1: expected at least one node, got none");
  return nodes;
}

Result<std::vector<OpenbPod>> read_openb_pods(const std::string& path, const std::vector<OpenbNode>& nodes) {
  Result<CsvReader> csv = CsvReader::open(path);
  if (!csv) return csv.error();
  KnownModels models;
  std::unordered_set<std::string> names;
  if (!nodes.empty()) models.emplace();
  for (const OpenbNode& node : nodes)
    if (!node.model.empty()) models->insert(node.model);
  const PodColumns columns = pod_columns(*csv);
  std::vector<OpenbPod> pods;
  while (csv->next_row()) {
    pods.push_back(read_pod(*csv, columns, models));
    if (!names.insert(pods.back().name).second) csv->reject(columns.name, "every pod's name once");
  }
  if (csv->failed()) return csv->error();
  if (pods.empty()) return invalid(path + ":2:1: expected at least one pod, got none");
  return pods;
}

Result<std::vector<ArrivalOrder>> read_arrivals(const std::string& path, std::size_t pod_count,
                                                std::size_t node_count) {
  Result<CsvReader> csv = CsvReader::open(path);
  if (!csv) return csv.error();
  const CsvColumn seed = csv->column("seed"), kind = csv->column("kind"), values = csv->column("values");
  std::vector<ArrivalOrder> orders;
  while (csv->next_row()) {
    const auto number =
        static_cast<std::uint64_t>(csv->integer(seed, {.min = 0, .form = "a seed, a whole number from 0"}));
    auto order =
        std::find_if(orders.begin(), orders.end(), [&](const ArrivalOrder& each) { return each.seed == number; });
    if (order == orders.end())
      order = orders.insert(orders.end(), ArrivalOrder{.seed = number, .arrivals = {}, .node_ranks = {}});
    const bool is_arrival = csv->text(kind) == "arrival";
    if (!is_arrival && csv->text(kind) != "noderank") csv->reject(kind, "arrival or noderank");
    std::vector<std::uint32_t>& list = is_arrival ? order->arrivals : order->node_ranks;
    if (!list.empty()) csv->reject(kind, "one line of each kind for seed " + std::to_string(number));
    list = is_arrival ? read_indices(*csv, values, pod_count, "pods sorted by name")
                      : read_indices(*csv, values, node_count, "nodes sorted by name");
    if (!is_arrival) check_permutation(*csv, list, node_count);
  }
  if (csv->failed()) return csv->error();
  if (orders.empty()) return invalid(path + ":2:1: expected arrival orders, got none");
  for (const ArrivalOrder& order : orders) {
    const char* missing = order.arrivals.empty() ? "arrival" : order.node_ranks.empty() ? "noderank" : nullptr;
    if (missing != nullptr) {
      return invalid(path + ":" + std::to_string(csv->line()) + ":1: expected a line of kind " + missing +
                     " for seed " + std::to_string(order.seed) + ", got none");
    }
  }
  return orders;
}

std::vector<std::uint32_t> sorted_by_name(const std::vector<OpenbPod>& items) { return indices_by_name(items); }
std::vector<std::uint32_t> sorted_by_name(const std::vector<OpenbNode>& items) { return indices_by_name(items); }

}  // namespace ashlar::sim
