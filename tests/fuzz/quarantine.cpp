// The file of pods for which a scheduler stopped. It lies in a folder that can be written, or it would not be read.
#include "live/lead/quarantine.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "fuzz/fuzz.h"

namespace {

using ashlar::kube::PooledString;
using ashlar::kube::Quarantine;

/// One for all runs of the process.
struct Folder {
  Folder() : path((std::filesystem::temp_directory_path() / "ashlar-fuzz-XXXXXX").string()) {
    ASHLAR_CHECK(mkdtemp(path.data()) != nullptr);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

void run(std::string_view bytes) {
  static const Folder folder;
  const std::string file = folder.path + "/quarantine";
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const ashlar::Result<Quarantine> read = Quarantine::open(file);
  ASHLAR_CHECK(read.ok());  // any line without a uid is skipped
  static_cast<void>(read->holds(PooledString("uid-1")));
  static_cast<void>(read->text_for(PooledString("uid-1")));
}

}  // namespace

ASHLAR_FUZZ_TARGET(quarantine)
