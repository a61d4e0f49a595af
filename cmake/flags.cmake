# Compiler and linker flags for every target of every preset.
#
# -ffp-contract=off always, -ffast-math never: a fused multiply-add rounds once instead of twice, which breaks ties between
# scores differently on different machines, and then the same log no longer gives the same plan. tests/tidy checks both.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

option(ASHLAR_LTO "Compile the core for link-time optimisation of the program and the benches" OFF)
option(ASHLAR_BATCHES "Compile several sources of a test in one run of the compiler" ON)
option(ASHLAR_FUZZ "Build the fuzz targets with clang's libFuzzer" OFF)
set(ASHLAR_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(ASHLAR_MARCH x86-64-v3 CACHE STRING "Value of -march; empty for the compiler's default")
else()
  set(ASHLAR_MARCH "" CACHE STRING "Value of -march; empty for the compiler's default")
endif()

add_compile_options(-ffp-contract=off -fno-math-errno)
if(ASHLAR_MARCH)
  add_compile_options(-march=${ASHLAR_MARCH})
endif()
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
                    $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>)  # designated initialisers leave fields out on purpose

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlaps and overruns in std::string that are not there (GCC bug 105651), the more so through precompiled headers.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict> $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow> $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
endif()

if(ASHLAR_SANITIZE)
  add_compile_options(-fsanitize=${ASHLAR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ASHLAR_SANITIZE})
  if(ASHLAR_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)  # Asio's fences; see its own note on atomic_thread_fence
  endif()
endif()

# ccache shares objects between checkouts: paths are stored relative to the source folder. With precompiled headers it caches only if it may take
# their macros as read, and if the compiler marks in its output where they were used.
find_program(ASHLAR_CCACHE ccache)
if(ASHLAR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros ${ASHLAR_CCACHE})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()
add_link_options(-Wl,--as-needed)
find_program(ASHLAR_MOLD mold)
if(ASHLAR_MOLD AND NOT ASHLAR_SANITIZE)
  add_link_options(-fuse-ld=mold)
endif()
