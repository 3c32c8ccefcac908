# Writes OUT: kenaz::prelude::sources(), the texts of FILES by name: their path from ROOT on, without
# ending.
set(text "#include \"kernels/prelude/prelude.h\"\n\nnamespace kenaz::prelude {\n"
         "const std::vector<std::pair<std::string_view, std::string_view>>& sources() {\n"
         "  static const std::vector<std::pair<std::string_view, std::string_view>> all = {\n")
string(CONCAT text ${text})
foreach(file ${FILES})
  file(RELATIVE_PATH name ${ROOT} ${file})
  string(REGEX REPLACE "\\.fut$" "" name ${name})
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${hex}")
  string(APPEND text "    {\"${name}\", std::string_view(\"${escaped}\")},\n")
endforeach()
string(APPEND text "  };\n  return all;\n}\n}  // namespace kenaz::prelude\n")
file(WRITE ${OUT} "${text}")
