// Amounts as people read them.
#include "text/amount_text.h"

#include <gtest/gtest.h>

#include "model/demand.h"
#include "model/event.h"

namespace ashlar {
namespace {

TEST(Amounts, AmountsAreSaidInTheUnitOfTheirResource) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  EXPECT_EQ(quota_text(0, 8'000), "8 GPUs");
  EXPECT_EQ(quota_text(0, 0), "0 GPUs");
  EXPECT_EQ(quota_text(0, 8'001), "8.001 GPUs");
  EXPECT_EQ(quota_text(0, 250), "0.25 GPU");
  EXPECT_EQ(quota_text(1, 1'000), "1 core");
  EXPECT_EQ(quota_text(1, 999), "0.999 cores");
  EXPECT_EQ(quota_text(1, 2'500), "2.5 cores");
  EXPECT_EQ(quota_text(2, 16 * kGiB), "16 GiB");
  EXPECT_EQ(quota_text(2, kGiB / 2), "0.5 GiB");
  EXPECT_EQ(quota_text(2, std::int64_t{1} << 50), "1048576 GiB") << "never with an exponent";
  EXPECT_EQ(quota_text(2, -(std::int64_t{1} << 60)), "-1073741824 GiB");
  EXPECT_EQ(quota_text(2, 1'000), "0.000000931323 GiB");
  EXPECT_EQ(quota_text(2, 0), "0 GiB");
  constexpr DeviceClassId kClass{4u};
  constexpr ResourceId kNic{resource::kFirstExtended};
  EXPECT_EQ(quota_text(quota_number({ResourceId::none(), kClass}), 2'000), "2 GPUs");
  EXPECT_EQ(quota_text(quota_number({resource::kCpu, kClass}), 2'000), "2 cores");
  EXPECT_EQ(quota_text(quota_number({resource::kEphemeralStorage, {}}), kGiB), "1 GiB");
  EXPECT_EQ(quota_text(quota_number({kNic, {}}), 77), "77");
  for (const QuotaKey& key : {QuotaKey{}, QuotaKey{resource::kCpu, {}}, QuotaKey{resource::kMemory, {}},
                              QuotaKey{ResourceId::none(), kClass}, QuotaKey{kNic, kClass}, QuotaKey{kNic, {}}})
    EXPECT_EQ(quota_key(quota_number(key)), key);
  EXPECT_EQ(quota_number({resource::kMemory, {}}), static_cast<std::int64_t>(QuotaDimension::kMemoryBytes));
  EXPECT_EQ(quota_word(quota_number({kNic, {}}), 4), "4");
  EXPECT_EQ(parse_quota(quota_number({kNic, kClass}), "4").value(), 4);
  EXPECT_EQ(amount_text(resource::kCpu, 2'000), "2 cores");
  EXPECT_EQ(amount_text(resource::kMemory, 3 * kGiB), "3 GiB");
  EXPECT_EQ(amount_text(resource::kEphemeralStorage, 4 * kGiB), "4 GiB");
  EXPECT_EQ(amount_text(resource::kPods, 5), "5");
  EXPECT_EQ(amount_text(ResourceId(resource::kFirstExtended), 6'000), "6000");
}

TEST(Amounts, BytesOfANodeAreAWordOfFewDigitsRoundedDown) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  EXPECT_EQ(rounded_bytes_word(0), "0");
  EXPECT_EQ(rounded_bytes_word(1'023), "1023");
  EXPECT_EQ(rounded_bytes_word(2'048), "2KiB");
  EXPECT_EQ(rounded_bytes_word(512 * kMiB), "512MiB");
  EXPECT_EQ(rounded_bytes_word((std::int64_t{512} << 30) - 1), "511.9GiB");
  EXPECT_EQ(rounded_bytes_word(1'991 * 1'024 * kMiB), "1.9TiB");
  EXPECT_EQ(rounded_bytes_word(-1'500 * kMiB), "-1.5GiB");
  EXPECT_EQ(rounded_bytes_word(INT64_MIN), "-8388608TiB");
}

TEST(Amounts, GpuMemoryIsRoundedUpToMebibytes) {
  EXPECT_EQ(parse_gpu_memory("40Gi").value(), MiB(40 << 10));
  EXPECT_EQ(parse_gpu_memory("40GiB").value(), MiB(40 << 10));
  EXPECT_EQ(parse_gpu_memory("1.5Mi").value(), MiB(2));
  EXPECT_EQ(parse_gpu_memory("0").value(), MiB(0));
  EXPECT_EQ(parse_gpu_memory("1048577").value(), MiB(2));
  EXPECT_EQ(parse_gpu_memory("100").error().message, "\"100\" is less than 1Mi; name the unit (40Gi)");
  EXPECT_EQ(parse_gpu_memory("-1Gi").error().message, "\"-1Gi\" is not a quantity such as 40Gi");
  EXPECT_EQ(parse_gpu_memory("1Pi").error().message, "\"1Pi\" is more than any GPU has");
  EXPECT_FALSE(parse_gpu_memory("iB").ok());
}

TEST(Amounts, ALongTextIsCutWhereItIsQuotedSoThatWhatIsWrongIsRead) {
  EXPECT_EQ(parse_gpu_memory(std::string(250'000, 'x')).error().message,
            "\"" + std::string(64, 'x') + "\" is not a quantity such as 40Gi");
}

TEST(Amounts, InOneWordAndBack) {
  EXPECT_EQ(milli_word(2'000), "2");
  EXPECT_EQ(milli_word(500), "0.5");
  EXPECT_EQ(milli_word(-500), "-0.5");
  EXPECT_EQ(milli_word(-1'500), "-1.5");
  EXPECT_EQ(amount_word(resource::kMemory, std::int64_t{64} << 30), "64GiB");
  EXPECT_EQ(quota_word(0, kUnlimited), "unlimited");
  EXPECT_EQ(parse_bytes("64GiB"), Bytes(std::int64_t{64} << 30));
  EXPECT_EQ(parse_bytes("4Pi"), Bytes(std::int64_t{1} << 52));
  EXPECT_EQ(parse_bytes("5Pi"), std::nullopt);
}

TEST(Amounts, QuotasAreQuantitiesOfAnySize) {
  constexpr std::int64_t kGpu = 0, kCpu = 1, kMemory = 2;
  EXPECT_EQ(parse_quota(kGpu, "1.5").value(), 1'500);
  EXPECT_EQ(parse_quota(kGpu, "500m").value(), 500);
  EXPECT_EQ(parse_quota(kGpu, "1k").value(), 1'000'000);
  EXPECT_EQ(parse_quota(kGpu, "0.0001").value(), 1) << "rounded up, as Kubernetes rounds";
  EXPECT_EQ(parse_quota(kCpu, "250m").value(), 250);
  EXPECT_EQ(parse_quota(kMemory, "64GiB").value(), std::int64_t{64} << 30);
  EXPECT_EQ(parse_quota(kMemory, "16Pi").value(), std::int64_t{1} << 54);
  EXPECT_EQ(parse_quota(kGpu, "-1").error().message, "\"-1\" is negative");
  EXPECT_EQ(parse_quota(kGpu, "x").error().message,
            "quantity \"x\" is not a number; write for example 640, 1500m, 2.5 or 4Ti");
  for (const char* bad : {"", ".", "1.2.3", "1GiB", "99999999999999999999"})
    EXPECT_FALSE(parse_quota(kGpu, bad).ok()) << bad;
}

TEST(Amounts, NodesAreCountedInWords) {
  EXPECT_EQ(node_count_text(1), "1 node");
  EXPECT_EQ(node_count_text(3), "3 nodes");
}

}  // namespace
}  // namespace ashlar
