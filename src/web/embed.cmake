# Turns files into one C++ source of byte arrays: cmake -DOUTPUT=out.cpp -DFILES=name=path,name=path -P embed.cmake
# Each becomes `extern const std::string_view kName` in namespace ashlar::web::assets.
set(source "// Made by embed.cmake from the files beside it. Do not edit.\n#include <string_view>\nnamespace ashlar::web::assets {\n")
string(REPLACE "," ";" pairs "${FILES}")
foreach(pair IN LISTS pairs)
  string(REGEX MATCH "^([^=]+)=(.+)$" ignored "${pair}")
  set(name ${CMAKE_MATCH_1})
  file(READ ${CMAKE_MATCH_2} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND source "static const char ${name}_bytes[] = {${bytes}'\\0'};\n"
                       "extern const std::string_view ${name};\nconst std::string_view ${name}(${name}_bytes, sizeof ${name}_bytes - 1);\n")
endforeach()
file(WRITE ${OUTPUT} "${source}}  // namespace ashlar::web::assets\n")
