# What `cmake --install` brings: the program, the static and the shared library with their
# internals hidden, the headers, assay.pc, a CMake package, manual pages, and completion.
include(CMakePackageConfigHelpers)

# The shared library exports what carries ASSAY_API, and nothing else.
add_library(assay_shared SHARED ${assay_object_files})
set_target_properties(assay_shared PROPERTIES
  OUTPUT_NAME assay VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
target_link_libraries(assay_shared PRIVATE assay_flags assay_deps)
target_link_options(assay_shared PRIVATE -Wl,--as-needed)

# The static library is one object, linked from all of them, whose hidden symbols are made local:
# a program may use any name that the library uses inside.
set(assay_static_dir ${CMAKE_BINARY_DIR}/lib)
set(assay_static_file ${assay_static_dir}/libassay.a)
add_custom_command(
  OUTPUT ${assay_static_file}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${assay_static_dir}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${assay_static_dir}/libassay.o ${assay_object_files}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${assay_static_dir}/libassay.o
  COMMAND ${CMAKE_COMMAND} -E rm -f ${assay_static_file}
  COMMAND ${CMAKE_AR} rcs ${assay_static_file} ${assay_static_dir}/libassay.o
  DEPENDS ${assay_object_files}
  COMMAND_EXPAND_LISTS VERBATIM
  COMMENT "Linking the static library with its internals hidden")
add_custom_target(assay_static ALL DEPENDS ${assay_static_file})

# What a program links beside the static library.
set(ASSAY_PRIVATE_LIBS "")
foreach(dir IN LISTS ASSAY_DEPS_LIBRARY_DIRS ASSAY_HDF5_LIB_LIBRARY_DIRS)
  list(APPEND ASSAY_PRIVATE_LIBS -L${dir})
endforeach()
foreach(library IN LISTS ASSAY_DEPS_LIBRARIES ASSAY_HDF5_LIB_LIBRARIES)
  list(APPEND ASSAY_PRIVATE_LIBS -l${library})
endforeach()
list(APPEND ASSAY_PRIVATE_LIBS -lpthread ${CMAKE_DL_LIBS} -lm)
list(TRANSFORM ASSAY_PRIVATE_LIBS REPLACE "^dl$" "-ldl")
list(REMOVE_DUPLICATES ASSAY_PRIVATE_LIBS)
list(JOIN ASSAY_PRIVATE_LIBS " " ASSAY_PRIVATE_LIBS_LINE)

# Both packages find the rest of the installation from where they themselves lie.
file(RELATIVE_PATH ASSAY_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" ASSAY_PC_TO_PREFIX "${ASSAY_PC_TO_PREFIX}")
configure_file(cmake/assay.pc.in ${CMAKE_BINARY_DIR}/assay.pc @ONLY)
configure_package_config_file(cmake/assayConfig.cmake.in ${CMAKE_BINARY_DIR}/assayConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/assayConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS assay_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS assay_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${assay_static_file} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/assay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/assay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_BINARY_DIR}/assayConfig.cmake ${CMAKE_BINARY_DIR}/assayConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay)

# Manual pages are made from what each command's --help prints, so that the two cannot differ.
find_program(ASSAY_AWK NAMES awk mawk gawk)
if(ASSAY_AWK AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/commands.inc)
  file(STRINGS src/cli/commands.inc command_rows REGEX "^COMMAND")
  set(man_pages "")
  foreach(row IN ITEMS "" LISTS command_rows)
    string(REGEX REPLACE "^COMMAND\\(\"([a-z-]+)\".*" "\\1" command "${row}")
    set(page ${CMAKE_BINARY_DIR}/man/assay-${command}.1)
    if(command STREQUAL "")
      set(page ${CMAKE_BINARY_DIR}/man/assay.1)
    endif()
    add_custom_command(
      OUTPUT ${page}
      COMMAND sh ${CMAKE_SOURCE_DIR}/man/man-page.sh ${page} ${ASSAY_AWK} ${PROJECT_VERSION} "${command}"
        ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:assay_program>
      DEPENDS assay_program ${CMAKE_SOURCE_DIR}/man/man-page.awk ${CMAKE_SOURCE_DIR}/man/man-page.sh
      COMMENT "" VERBATIM)
    list(APPEND man_pages ${page})
  endforeach()
  add_custom_target(assay_man ALL DEPENDS ${man_pages})
  install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(FILES completions/assay.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME assay)
