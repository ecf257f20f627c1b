# SPDX-License-Identifier: MIT
#
# An install writes down what it put down, for tools/uninstall: one list for each
# pair of PREFIX and DESTDIR, in build/installed.  Its first two lines are that
# pair; the files are without DESTDIR, and folders that the install created end
# with a slash.  An install over an older one adds to its list, since files that
# the older one alone put down are still there.

# Before all that installs: which of our folders are not there yet?
function(sley_manifest_begin)
	set(folders
		${CMAKE_INSTALL_BINDIR}
		${CMAKE_INSTALL_SBINDIR}
		lib/systemd/system
		${CMAKE_INSTALL_LIBDIR}/cmake/sley
		${CMAKE_INSTALL_LIBDIR}/pkgconfig
		${CMAKE_INSTALL_INCLUDEDIR}/sley
		${CMAKE_INSTALL_DOCDIR}/bench
		${CMAKE_INSTALL_DOCDIR}/docs/adr
		${CMAKE_INSTALL_DOCDIR}/examples
		${CMAKE_INSTALL_DOCDIR}/src
		${CMAKE_INSTALL_DOCDIR}/tests
		${CMAKE_INSTALL_MANDIR}/man1
		${CMAKE_INSTALL_MANDIR}/man3
		${CMAKE_INSTALL_MANDIR}/man5
		${CMAKE_INSTALL_MANDIR}/man7
		${CMAKE_INSTALL_MANDIR}/man8)
	install(CODE "set(sley_folders \"${folders}\")")
	install(CODE [[
	string(REGEX REPLACE "/+$" "" sley_root "$ENV{DESTDIR}")
	set(sley_installed "")
	foreach(folder ${sley_folders})
		if(NOT IS_ABSOLUTE "${folder}")
			set(folder "${CMAKE_INSTALL_PREFIX}/${folder}")
		endif()
		while(folder MATCHES "[^/]" AND NOT EXISTS "${sley_root}${folder}")
			list(APPEND sley_installed "${folder}/")
			get_filename_component(folder "${folder}" DIRECTORY)
		endwhile()
	endforeach()
]])
endfunction()

# After all that installs.
function(sley_manifest_end)
	install(CODE "set(sley_lists \"${PROJECT_BINARY_DIR}/installed\")")
	install(CODE [[
	set(pair "PREFIX=${CMAKE_INSTALL_PREFIX}\nDESTDIR=${sley_root}\n")
	string(MD5 name "${pair}")
	set(list "${sley_lists}/${name}.txt")
	list(APPEND sley_installed ${CMAKE_INSTALL_MANIFEST_FILES})
	if(EXISTS "${list}")
		file(STRINGS "${list}" older ENCODING UTF-8)
		list(REMOVE_AT older 0 1)
		list(APPEND sley_installed ${older})
	endif()
	list(REMOVE_DUPLICATES sley_installed)
	list(JOIN sley_installed "\n" text)
	file(WRITE "${list}" "${pair}${text}\n")
]])
endfunction()
