# Every library from outside, all of them Debian 12 packages (`./dev setup` installs them; the list is in dev.d/setup.sh).
# Folders name the imported targets; nothing is linked that is not named.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS headers json iostreams)  # Boost::headers (Beast, Asio), Boost::json, Boost::iostreams
find_package(CURL REQUIRED)                                         # CURL::libcurl
find_package(OpenSSL REQUIRED)                                      # OpenSSL::SSL, OpenSSL::Crypto
find_package(Protobuf REQUIRED)                                     # protobuf::libprotobuf, protobuf::protoc
find_package(SQLite3 REQUIRED)                                      # SQLite::SQLite3
find_package(ZLIB REQUIRED)
find_package(simdjson REQUIRED)                                     # simdjson::simdjson
find_package(yaml-cpp REQUIRED)                                     # yaml-cpp
find_package(fmt REQUIRED)                                          # fmt::fmt
find_package(spdlog REQUIRED)                                       # spdlog::spdlog
find_package(CLI11 REQUIRED)                                        # CLI11::CLI11
find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)        # prometheus-cpp::core
find_package(GTest REQUIRED)                                        # GTest::gtest, GTest::gmock
find_package(rapidcheck CONFIG REQUIRED)                            # rapidcheck
find_package(benchmark REQUIRED)                                    # benchmark::benchmark

# simdjson's header takes its development checks, and with them another layout of its parser, from how far the including source is optimised. One program has
# sources of both kinds (a test's own under sanitizers, cmake/ashlar.cmake), so it is said here for all: on under sanitizers, where a value read out of order
# is to be found, off in release.
if(ASHLAR_SANITIZE)
  target_compile_definitions(simdjson::simdjson INTERFACE SIMDJSON_DEVELOPMENT_CHECKS=1)
else()
  target_compile_definitions(simdjson::simdjson INTERFACE SIMDJSON_DEVELOPMENT_CHECKS=0)
endif()
