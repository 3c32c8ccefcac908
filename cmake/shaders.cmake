# Compiles shaders into generated/FOLDER/NAME.h, each an array `NAME_spirv` of SPIR-V words, for
# folders that may not include a compiler.
find_program(GLSLANG_VALIDATOR glslangValidator REQUIRED)
function(kenaz_shaders folder sources)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${sources}/*.comp)
  file(GLOB includes CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${sources}/*.glsl)
  set(headers)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/${folder})
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    set(header ${CMAKE_BINARY_DIR}/generated/${folder}/${name}.h)
    add_custom_command(
      OUTPUT ${header}
      COMMAND ${GLSLANG_VALIDATOR} -V --quiet --target-env vulkan1.2 --vn ${name}_spirv -o
              ${header} ${file}
      DEPENDS ${file} ${includes}
      VERBATIM)
    list(APPEND headers ${header})
  endforeach()
  add_custom_target(${folder} DEPENDS ${headers})
  foreach(user ${ARGN})
    if(TARGET ${user})
      add_dependencies(${user} ${folder})
    endif()
  endforeach()
endfunction()
kenaz_shaders(shaders server/device/vulkan kenaz_device)
kenaz_shaders(test_shaders server/testdata device_test server_test)
