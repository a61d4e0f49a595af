# The functions behind every folder's short CMakeLists.txt. A name in DEPENDS that is a folder of src/ means that folder's
# library (left out while that folder is not there); any other name is an imported target of dependencies.cmake.

# "state fmt::fmt" -> targets, into `out`.
function(ashlar_targets_of out)
  set(targets)
  foreach(name IN LISTS ARGN)
    if(name MATCHES "^[a-z_]+$" AND (IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/${name} OR name STREQUAL "learn"))
      list(APPEND targets "$<TARGET_NAME_IF_EXISTS:ashlar_${name}>")
    else()
      list(APPEND targets ${name})
    endif()
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# Precompiled headers: the standard headers of libraries, and those of the test frameworks besides; system headers only, so nobody has to include them by
# this way and a build without them is the same. Shared by all targets of a kind.
set(ashlar_usual_headers <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string>
    <string_view> <unordered_map> <utility> <variant> <vector>)
set(ashlar_test_headers ${ashlar_usual_headers} <filesystem> <fstream> <sstream> <gmock/gmock.h> <gtest/gtest.h> <rapidcheck/gtest.h>)
function(ashlar_precompile target kind) # further arguments: what their headers need linked
  if(ASHLAR_SANITIZE)
    return()
  endif()
  if(NOT TARGET ashlar_precompiled_${kind})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/precompiled_${kind}.cpp CONTENT "// Generated: a target needs a source.\n" @ONLY)
    add_library(ashlar_precompiled_${kind} OBJECT ${PROJECT_BINARY_DIR}/generated/precompiled_${kind}.cpp)
    target_link_libraries(ashlar_precompiled_${kind} PRIVATE ${ARGN})  # the same macros
    if(kind STREQUAL "test")
      ashlar_compile_soon(ashlar_precompiled_test)
    endif()
    target_precompile_headers(ashlar_precompiled_${kind} PRIVATE ${ashlar_${kind}_headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ashlar_precompiled_${kind})
endfunction()

# ashlar_library(NAME DEPENDS ... [IN_BATCHES]): all sources below the current folder become the static library ashlar_NAME; a folder of
# headers only becomes an interface library. *.proto files are compiled by protoc; include them as "NAME/file.pb.h".
function(ashlar_library name)
  cmake_parse_arguments(arg "IN_BATCHES" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB_RECURSE protos CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.proto)
  ashlar_targets_of(targets ${arg_DEPENDS})
  if(NOT sources AND NOT protos)
    add_library(ashlar_${name} INTERFACE)
    target_include_directories(ashlar_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(ashlar_${name} INTERFACE ${targets})
    return()
  endif()
  add_library(ashlar_${name} STATIC ${sources})
  target_include_directories(ashlar_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(ashlar_${name} PUBLIC ${targets})
  if(protos)
    ashlar_protos(ashlar_${name} ${protos})
  endif()
  ashlar_precompile(ashlar_${name} usual)
  if(arg_IN_BATCHES)
    ashlar_compile_in_batches(ashlar_${name} 4)
  endif()
  # Only the folders whose code meets in the decision gain from being optimised across files; objects stay usable without it, for tests.
  if(ASHLAR_LTO AND name MATCHES "^(base|model|state|policy|learn|engine)$")
    target_compile_options(ashlar_${name} PRIVATE -flto=auto -ffat-lto-objects)
  endif()
endfunction()

# Adds the code that protoc makes of `ARGN` to `target`, without our warnings.
function(ashlar_protos target)
  foreach(proto IN LISTS ARGN)
    file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR}/src ${proto})
    string(REGEX REPLACE "\\.proto$" "" stem ${relative})
    set(generated ${PROJECT_BINARY_DIR}/generated/${stem}.pb)
    add_custom_command(
      OUTPUT ${generated}.cc ${generated}.h
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/src --cpp_out=${PROJECT_BINARY_DIR}/generated ${relative}
      DEPENDS ${proto} VERBATIM)
    set_source_files_properties(${generated}.cc PROPERTIES COMPILE_OPTIONS -w SKIP_PRECOMPILE_HEADERS ON)
    target_sources(${target} PRIVATE ${generated}.cc ${generated}.h)
  endforeach()
  target_include_directories(${target} SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/generated)
endfunction()

# ashlar_embed(NAME FUNCTION FILES...): puts files into the library ashlar_NAME. The folder declares
#   std::string_view FUNCTION(std::string_view name);   // in namespace ashlar::NAME: the bytes of the file of that name, empty if there is none
function(ashlar_embed name function)
  set(assembly "  .section .rodata\n")
  set(externs)
  set(cases)
  set(index 0)
  foreach(file IN LISTS ARGN)
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(short ${file} NAME)
    set(symbol ashlar_${name}_${function}_${index})
    string(APPEND assembly "  .global ${symbol}\n  .global ${symbol}_end\n${symbol}:\n  .incbin \"${path}\"\n${symbol}_end:\n  .byte 0\n")
    string(APPEND externs "extern const char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND cases "  if (name == \"${short}\") return {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})};\n")
    list(APPEND paths ${path})
    math(EXPR index "${index} + 1")
  endforeach()
  set(generated ${PROJECT_BINARY_DIR}/generated/${name}_${function})
  file(CONFIGURE OUTPUT ${generated}.S CONTENT "${assembly}  .section .note.GNU-stack,\"\",%progbits\n" @ONLY)
  file(CONFIGURE OUTPUT ${generated}.cpp CONTENT "// Generated by ashlar_embed.
#include <string_view>
extern \"C\" {
${externs}}
namespace ashlar::${name} {
std::string_view ${function}(std::string_view name) {
${cases}  return {};
}
}  // namespace ashlar::${name}
" @ONLY)
  set_source_files_properties(${generated}.S PROPERTIES OBJECT_DEPENDS "${paths}")
  target_sources(ashlar_${name} PRIVATE ${generated}.S ${generated}.cpp)
endfunction()

# Link-time optimisation for one program, where the preset asks for it; of its own sources too unless LIBRARIES_ONLY.
function(ashlar_optimise_across_files target)
  cmake_parse_arguments(arg "LIBRARIES_ONLY" "" "" ${ARGN})
  if(ASHLAR_LTO)
    if(NOT arg_LIBRARIES_ONLY)
      target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects)
    endif()
    # mold 1.10 takes some weak symbols of objects with and without link-time optimisation for duplicates.
    target_link_options(${target} PRIVATE -flto=auto -O3 -fuse-ld=bfd)
  endif()
endfunction()

# Without link-time optimisation, from the plain half of the objects: what tests want.
function(ashlar_link_plainly target)
  if(ASHLAR_LTO)
    target_link_options(${target} PRIVATE -fno-lto -fno-use-linker-plugin)
  endif()
endfunction()

# A test's own sources are compiled for soon rather than for speed: a quarter to a third less time. Under sanitizers the oracles and the properties, which
# compute a lot themselves, keep the preset's flags.
function(ashlar_compile_soon target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(ASHLAR_SANITIZE AND NOT target MATCHES "^(oracle|properties)_test$")
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# Several sources in one run of the compiler, which reads and instantiates what they share once: where a source alone is seldom compiled anew. Not in the
# preset of daily work, whose commands clang-tidy takes source by source.
function(ashlar_compile_in_batches target size)
  if(ASHLAR_BATCHES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()

# Where a test finds its cases, fixtures and programs, whatever folder it is started from: "folders.h" defines ASHLAR_SOURCE_DIR and ASHLAR_BINARY_DIR. A header
# and not a flag, so that the compiler cache shares all other objects between checkouts.
function(ashlar_folders_for target)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/folders/folders.h CONTENT "// Generated: where this checkout and its programs lie.
#pragma once
#define ASHLAR_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\"
#define ASHLAR_BINARY_DIR \"${PROJECT_BINARY_DIR}/bin\"
" @ONLY)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated/folders)
endfunction()

# ashlar_test(NAME DEPENDS ... [SOURCES_IN folder] [EACH_ALONE]): one gtest binary NAME_test of all *.cpp in tests/unit/NAME.
function(ashlar_test name)
  cmake_parse_arguments(arg "EACH_ALONE" "SOURCES_IN" "DEPENDS" ${ARGN})
  if(NOT arg_SOURCES_IN)
    set(arg_SOURCES_IN ${PROJECT_SOURCE_DIR}/tests/unit/${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${arg_SOURCES_IN}/*.cpp)
  if(NOT sources)
    return()
  endif()
  ashlar_targets_of(targets ${arg_DEPENDS})
  add_executable(${name}_test ${sources})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name}_test PRIVATE ${targets} GTest::gmock GTest::gtest GTest::gtest_main rapidcheck Threads::Threads)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${name}_test PRIVATE -Wno-maybe-uninitialized)  # g++ 12 sees them in aggregates that are initialised in part
  endif()
  ashlar_folders_for(${name}_test)
  ashlar_link_plainly(${name}_test)
  ashlar_compile_soon(${name}_test)
  if(NOT arg_EACH_ALONE) # its sources define the same names
    ashlar_compile_in_batches(${name}_test 6)
  endif()
  ashlar_precompile(${name}_test test GTest::gmock GTest::gtest rapidcheck Threads::Threads)
  add_dependencies(tests ${name}_test)
  add_test(NAME ${name}_test COMMAND ${name}_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

# One test binary for each subfolder of `parent`, linked with the folder of src/ of that name, or with all where there is none.
function(ashlar_tests_in parent)
  file(GLOB folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${parent}/*)
  foreach(folder IN LISTS folders)
    get_filename_component(name ${folder} NAME)
    if(EXISTS ${folder}/CMakeLists.txt)
      add_subdirectory(${folder} ${PROJECT_BINARY_DIR}/${parent}/${name})
    elseif(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/${name})
      ashlar_test(${name} DEPENDS ${name} SOURCES_IN ${folder})
    elseif(IS_DIRECTORY ${folder})
      ashlar_test(${name} DEPENDS ${ASHLAR_EVERY_FOLDER} SOURCES_IN ${folder})
    endif()
  endforeach()
endfunction()

# ashlar_bench(NAME SOURCES ... DEPENDS ...): the program bench_NAME.
function(ashlar_bench name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  ashlar_targets_of(targets ${arg_DEPENDS})
  add_executable(bench_${name} ${arg_SOURCES})
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/bench)
  target_link_libraries(bench_${name} PRIVATE ${targets} benchmark::benchmark Threads::Threads)
  ashlar_folders_for(bench_${name})
  if(name MATCHES "^(engine|policy|sim)$") # the others measure what is not optimised across files in the program either, or do not measure time
    ashlar_optimise_across_files(bench_${name} LIBRARIES_ONLY)
  else()
    ashlar_link_plainly(bench_${name})
  endif()
endfunction()

# One program for each *.cpp or subfolder of `parent`; it may use every folder that exists.
function(ashlar_benches_in parent)
  file(GLOB entries CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${parent}/*)
  foreach(entry IN LISTS entries)
    get_filename_component(name ${entry} NAME_WE)
    if(EXISTS ${entry}/CMakeLists.txt)
      add_subdirectory(${entry} ${PROJECT_BINARY_DIR}/${parent}/${name})
      continue()
    endif()
    if(IS_DIRECTORY ${entry})
      file(GLOB sources CONFIGURE_DEPENDS ${entry}/*.cpp)
    elseif(entry MATCHES "\\.cpp$")
      set(sources ${entry})
    else()
      set(sources)
    endif()
    if(sources)
      ashlar_bench(${name} SOURCES ${sources} DEPENDS ${ASHLAR_EVERY_FOLDER})
    endif()
  endforeach()
endfunction()

# All folders of src/ that are libraries, for programs that wire everything together.
file(GLOB ashlar_lists CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/*/CMakeLists.txt)
list(TRANSFORM ashlar_lists REPLACE "/CMakeLists.txt$" "" OUTPUT_VARIABLE ASHLAR_EVERY_FOLDER)
list(REMOVE_ITEM ASHLAR_EVERY_FOLDER apps)
