# SPDX-License-Identifier: MIT
#
# The manual: section 3 is made from the headers, 1, 5, 7 and 8 are written by hand.
# All of it is in build/man, where "man -M build/man sley_spawn" finds it.

set(SLEY_MAN ${PROJECT_BINARY_DIR}/man)

find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
	get_target_property(headers sley HEADER_SET)
	file(GLOB examples ${PROJECT_SOURCE_DIR}/examples/*.c)
	set(tools ${PROJECT_SOURCE_DIR}/tools)
	file(GLOB makers ${tools}/manual/*.py)
	add_custom_command(OUTPUT ${SLEY_MAN}/man3.stamp
		COMMAND Python3::Interpreter ${tools}/make_man.py
			--out ${SLEY_MAN}/man3 --version ${PROJECT_VERSION}
		COMMAND ${CMAKE_COMMAND} -E touch ${SLEY_MAN}/man3.stamp
		DEPENDS ${headers} ${examples} ${PROJECT_SOURCE_DIR}/man/sley.7
			${makers} ${tools}/make_man.py
			${tools}/header.py ${tools}/csource.py
		VERBATIM COMMENT "Making the manual pages")
	add_custom_target(sley_man ALL DEPENDS ${SLEY_MAN}/man3.stamp)
	install(DIRECTORY ${SLEY_MAN}/man3
		DESTINATION ${CMAKE_INSTALL_MANDIR})
else()
	message(STATUS "Manual pages of section 3: python3 is missing")
endif()

foreach(section 1 5 7)
	configure_file(${PROJECT_SOURCE_DIR}/man/sley.${section}
		${SLEY_MAN}/man${section}/sley.${section} COPYONLY)
	install(FILES ${PROJECT_SOURCE_DIR}/man/sley.${section}
		DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/man/sleyd.8 ${SLEY_MAN}/man8/sleyd.8
	COPYONLY)
install(FILES ${PROJECT_SOURCE_DIR}/man/sleyd.8
	DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)

# The pages speak of the examples.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples
	DESTINATION ${CMAKE_INSTALL_DOCDIR}
	FILES_MATCHING PATTERN "*.c" PATTERN "*.h")

# So do the guides, and messages and pages speak of the guides: in the same places as in
# the source, for the links between them.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs
	DESTINATION ${CMAKE_INSTALL_DOCDIR})

foreach(folder bench src tests)
	install(FILES ${PROJECT_SOURCE_DIR}/${folder}/README.md
		DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

# The headers are elsewhere in a tree that is installed: "include" leads there.
file(RELATIVE_PATH headers_place ${CMAKE_INSTALL_FULL_DOCDIR}
	${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/doc)
file(CREATE_LINK ${headers_place} ${PROJECT_BINARY_DIR}/doc/include SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/doc/include
	DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(FILES
	${PROJECT_SOURCE_DIR}/CHANGELOG.md
	${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
	${PROJECT_SOURCE_DIR}/LICENSE
	${PROJECT_SOURCE_DIR}/README.md
	${PROJECT_SOURCE_DIR}/SECURITY.md
	DESTINATION ${CMAKE_INSTALL_DOCDIR})
