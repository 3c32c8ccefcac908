# find_package(kenaz): the target kenaz::client, the C++ client library (docs/cpp_client.md).
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
find_dependency(OpenSSL)
find_dependency(ZLIB)
include(${CMAKE_CURRENT_LIST_DIR}/kenaz-targets.cmake)
