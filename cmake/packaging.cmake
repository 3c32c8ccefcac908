# What is installed, and the Debian package: cmake --install, cpack.
include(GNUInstallDirs)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Manual pages and completions, out of the programs' own --help.
set(docs ${CMAKE_BINARY_DIR}/docs)
set(doc_files)
foreach(program kenaz-server kenaz)
  list(APPEND doc_files ${docs}/man/${program}.1 ${docs}/bash/${program} ${docs}/zsh/_${program}
                        ${docs}/fish/${program}.fish)
endforeach()
add_custom_command(
  OUTPUT ${doc_files}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/option_docs ${docs} ${PROJECT_VERSION}
          $<TARGET_FILE:kenaz-server> $<TARGET_FILE:kenaz>
  DEPENDS kenaz-server kenaz scripts/option_docs packaging/kenaz.man packaging/kenaz-server.man
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
  VERBATIM)
add_custom_target(kenaz_docs ALL DEPENDS ${doc_files})

install(TARGETS kenaz-server kenaz)
install(DIRECTORY ${docs}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${docs}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY ${docs}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(DIRECTORY ${docs}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md PROTOCOL.md LICENSE packaging/example.conf
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kenaz)

# The client library for C++ programs: find_package(kenaz), or pkg-config kenaz.
include(CMakePackageConfigHelpers)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/kenaz)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/kenaz)
foreach(library client_lib protocol)
  target_include_directories(kenaz_${library} PUBLIC $<INSTALL_INTERFACE:${headers}>)
  target_compile_features(kenaz_${library} PUBLIC cxx_std_20)
endforeach()
set_target_properties(kenaz_client_lib PROPERTIES EXPORT_NAME client)
set_target_properties(kenaz_protocol PROPERTIES EXPORT_NAME protocol)
install(TARGETS kenaz_client_lib kenaz_protocol EXPORT kenaz COMPONENT library)
install(EXPORT kenaz NAMESPACE kenaz:: FILE kenaz-targets.cmake DESTINATION ${package} COMPONENT library)
foreach(folder client/lib protocol)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${folder}/ DESTINATION ${headers}/${folder} COMPONENT library
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN fake_server.h EXCLUDE)
endforeach()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/kenaz-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/kenaz-config.cmake ${CMAKE_BINARY_DIR}/generated/kenaz-config-version.cmake
        DESTINATION ${package} COMPONENT library)
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/kenaz.pc.in ${CMAKE_BINARY_DIR}/generated/kenaz.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/kenaz.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

# The unit names the program by its full path, which is known when it is installed.
install(CODE "
  set(BINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  configure_file(\"${CMAKE_SOURCE_DIR}/packaging/kenaz-server@.service.in\"
                 \"${docs}/kenaz-server@.service\" @ONLY)")
install(FILES ${docs}/kenaz-server@.service DESTINATION lib/systemd/system)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kenaz)
set(CPACK_PACKAGE_CONTACT "Kenaz <kenaz@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compute server for Futhark programs on Vulkan devices")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded at run time, so that nothing says so in the programs; then a driver, whichever.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libvulkan1, libssl3")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "mesa-vulkan-drivers")
include(CPack)
