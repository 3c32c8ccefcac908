# Embeds kernels/prelude/*.fut and what is in its folders into the binary as one generated source file.
file(GLOB_RECURSE prelude_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/prelude/*.fut)
set(prelude_cc ${CMAKE_BINARY_DIR}/generated/prelude_sources.cc)
add_custom_command(
  OUTPUT ${prelude_cc}
  COMMAND ${CMAKE_COMMAND} -DOUT=${prelude_cc} -DROOT=${CMAKE_SOURCE_DIR}/kernels/prelude "-DFILES=${prelude_files}"
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_prelude.cmake
  DEPENDS ${prelude_files} ${CMAKE_SOURCE_DIR}/cmake/embed_prelude.cmake
  VERBATIM)
add_library(kenaz_prelude STATIC ${prelude_cc})
target_link_libraries(kenaz_prelude PUBLIC kenaz_options)
