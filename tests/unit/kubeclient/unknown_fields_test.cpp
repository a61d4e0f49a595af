// What a newer API server sends: fields that this release does not know, at any depth.
#include "kubeclient/decode/unknown_fields.h"

#include <gtest/gtest.h>

#include "envelope.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/decode/wire_schema.h"

namespace ashlar::kube {
namespace {

using proto::find_unknown_fields;
using proto::UnknownFields;

/// Field `number` with a text; also as the bytes of a message that holds it.
std::string field(int number, const std::string& bytes) {
  std::string tag;
  for (std::uint32_t rest = static_cast<std::uint32_t>(number) << 3 | 2; tag.empty() || rest > 0; rest >>= 7)
    tag += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
  EXPECT_LT(bytes.size(), 128u);
  return tag + static_cast<char>(bytes.size()) + bytes;
}

pb::Pod plain_pod() {
  pb::Pod pod;
  pod.mutable_metadata()->set_name("p");
  pod.mutable_spec()->add_containers()->set_name("c");
  return pod;
}

TEST(UnknownFields, AreFoundInTheSpecAndElsewhereAtAnyDepth) {
  const std::string known = plain_pod().SerializeAsString();
  EXPECT_TRUE(find_unknown_fields(known, "Pod").empty());
  // Fields of a message may come in several pieces: the second one of the spec adds a container.
  const std::string security = field(15, field(99, "x"));
  const std::string raw = known + field(2, field(77, "new") + field(2, security)) + field(3, field(8, field(88, ""))) +
                          field(1, field(66, "y")) + field(55, "z") + field(2, field(77, "again"));
  const UnknownFields found = find_unknown_fields(raw, "Pod");
  EXPECT_EQ(found.in_spec, (std::vector<std::string>{"PodSpec.77", "SecurityContext.99"}));
  EXPECT_EQ(found.elsewhere, (std::vector<std::string>{"ContainerStatus.88", "ObjectMeta.66", "Pod.55"}));
}

TEST(UnknownFields, OfEveryKindOfValue) {
  const std::string values[] = {std::string("\x98\x06\x81\x01", 4), std::string("\x99\x06zwölfneun", 10).substr(0, 10),
                                std::string("\x9d\x06nine", 6)};
  for (const std::string& value : values) {
    const std::string raw = field(2, value + field(77, "after"));
    EXPECT_EQ(find_unknown_fields(raw, "Pod").in_spec, (std::vector<std::string>{"PodSpec.99", "PodSpec.77"}));
  }
}

TEST(UnknownFields, GarbageEndsTheWalkAndKeepsWhatWasFound) {
  const std::string sound = field(2, field(77, "x"));
  for (const std::string& rest :
       {std::string("\xff"), std::string("\x12\x7f"), std::string("\x0b"), std::string("\x12\xff\xff\xff\xff\x7f"),
        std::string("\x9d\x06n", 3), std::string("\x00\x01", 2)})
    EXPECT_EQ(find_unknown_fields(sound + rest, "Pod").in_spec, std::vector<std::string>{"PodSpec.77"});
  EXPECT_TRUE(find_unknown_fields("", "Pod").empty());
  EXPECT_TRUE(find_unknown_fields(sound, "NoSuchMessage").empty());
}

TEST(UnknownFields, AreNamedOnceAndNoMoreThanSixteen) {
  std::string spec;
  for (int number = 101; number < 200; ++number) spec += field(number, "");
  EXPECT_EQ(find_unknown_fields(field(2, spec.substr(0, 99)), "Pod").in_spec.size(), proto::UnknownFields::kMost);
}

TEST(UnknownFields, AreNamedInTheDecodedPodAndNode) {
  const auto decoded = [](const std::string& raw) {
    pb::Unknown envelope;
    envelope.set_raw(raw);
    return decode_object<Pod>(std::string("k8s\0", 4) + envelope.SerializeAsString()).value();
  };
  const std::string known = plain_pod().SerializeAsString();
  EXPECT_TRUE(decoded(known).rules->unknown_fields.empty());
  const Pod pod = decoded(known + field(2, field(77, "x") + field(42, "")) + field(3, field(99, "") + field(98, "")));
  EXPECT_EQ(pod.rules->unknown_fields, (std::vector<PooledString>{"PodSpec.77", "PodSpec.42"}));
  EXPECT_EQ(pod.unknown_fields, "PodStatus.99, PodStatus.98");
  EXPECT_EQ(pod.name, "p");
  pb::Unknown envelope;
  envelope.set_raw(field(1, field(1, "n")) + field(2, field(77, "")) + field(3, field(78, "")));
  const Node node = decode_object<Node>(std::string("k8s\0", 4) + envelope.SerializeAsString()).value();
  EXPECT_EQ(node.name, "n");
  EXPECT_EQ(node.unknown_fields, "NodeSpec.77, NodeStatus.78");
}

TEST(UnknownFields, OfOneItemOfAListAreThatItemsOnly) {
  const std::string known = plain_pod().SerializeAsString();
  const std::string raw =
      field(1, field(2, "9")) + field(2, known) + field(2, known + field(2, field(77, ""))) + field(2, known);
  pb::Unknown envelope;
  envelope.set_raw(raw);
  const Result<ListPage<Pod>> page = decode_list<Pod>(std::string("k8s\0", 4) + envelope.SerializeAsString());
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->items.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(page->items[i].rules->unknown_fields.size(), i == 1 ? 1u : 0u) << i;
}

}  // namespace
}  // namespace ashlar::kube
