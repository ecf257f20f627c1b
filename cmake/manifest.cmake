# SPDX-License-Identifier: MIT
#
# The last step of an install writes down what was installed, for
# tools/uninstall: one list for each pair of PREFIX and DESTDIR, in
# build/installed.  Its first two lines are that pair; the files are without
# DESTDIR.  An install over an older one adds to its list, since files that the
# older one alone put down are still there.

install(CODE "set(folder \"${PROJECT_BINARY_DIR}/installed\")")
install(CODE [[
	string(REGEX REPLACE "/+$" "" root "$ENV{DESTDIR}")
	set(pair "PREFIX=${CMAKE_INSTALL_PREFIX}\nDESTDIR=${root}\n")
	string(MD5 name "${pair}")
	set(list "${folder}/${name}.txt")
	set(files ${CMAKE_INSTALL_MANIFEST_FILES})
	if(EXISTS "${list}")
		file(STRINGS "${list}" older ENCODING UTF-8)
		list(REMOVE_AT older 0 1)
		list(APPEND files ${older})
	endif()
	list(REMOVE_DUPLICATES files)
	list(JOIN files "\n" text)
	file(WRITE "${list}" "${pair}${text}\n")
]])
