# SPDX-License-Identifier: MIT
#
# What "make install" puts where: headers, both libraries, the package for
# find_package(sley) and the one for pkg-config.

include(CMakePackageConfigHelpers)

set(SLEY_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/sley)

set(SLEY_LIBRARIES sley sley_static sley_http sley_http_static)
if(TARGET sley_config)
	list(APPEND SLEY_LIBRARIES sley_config sley_config_static)
endif()
install(TARGETS ${SLEY_LIBRARIES} EXPORT sley-targets
	LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
	ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
	FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(EXPORT sley-targets NAMESPACE sley:: DESTINATION ${SLEY_CMAKE_DIR})

configure_package_config_file(
	${PROJECT_SOURCE_DIR}/cmake/sley-config.cmake.in
	${PROJECT_BINARY_DIR}/sley-config.cmake
	INSTALL_DESTINATION ${SLEY_CMAKE_DIR})
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file(
	${PROJECT_BINARY_DIR}/sley-config-version.cmake
	COMPATIBILITY SameMinorVersion)
install(FILES
	${PROJECT_BINARY_DIR}/sley-config.cmake
	${PROJECT_BINARY_DIR}/sley-config-version.cmake
	DESTINATION ${SLEY_CMAKE_DIR})

# Relative to the .pc file, so that a moved or staged tree works as it is.
file(RELATIVE_PATH SLEY_PC_PREFIX
	/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" SLEY_PC_PREFIX "${SLEY_PC_PREFIX}")

# A frame above the size of the guard must not step over it: SECURITY.md.
include(CheckCCompilerFlag)
check_c_compiler_flag(-fstack-clash-protection SLEY_KNOWS_STACK_CLASH)
set(SLEY_PC_CLASH "")
if(SLEY_KNOWS_STACK_CLASH)
	set(SLEY_PC_CLASH " -fstack-clash-protection")
endif()

set(packages sley sley-http)
if(TARGET sley_config)
	list(APPEND packages sley-config)
endif()
foreach(package ${packages})
	configure_file(${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in
		${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
	install(FILES ${PROJECT_BINARY_DIR}/${package}.pc
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
