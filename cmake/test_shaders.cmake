# Compiles server/testdata/*.comp into generated/test_shaders/NAME.h, each an array `NAME` of SPIR-V
# words, for the tests of folders that may not include a compiler.
find_program(GLSLANG_VALIDATOR glslangValidator REQUIRED)
file(GLOB test_shader_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/server/testdata/*.comp)
file(GLOB test_shader_includes CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/server/testdata/*.glsl)
set(test_shader_headers)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/test_shaders)
foreach(file ${test_shader_files})
  get_filename_component(name ${file} NAME_WE)
  set(header ${CMAKE_BINARY_DIR}/generated/test_shaders/${name}.h)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${GLSLANG_VALIDATOR} -V --quiet --target-env vulkan1.2 --vn ${name}_spirv -o ${header}
            ${file}
    DEPENDS ${file} ${test_shader_includes}
    VERBATIM)
  list(APPEND test_shader_headers ${header})
endforeach()
add_custom_target(test_shaders DEPENDS ${test_shader_headers})
foreach(test device_test server_test)
  if(TARGET ${test})
    add_dependencies(${test} test_shaders)
  endif()
endforeach()
