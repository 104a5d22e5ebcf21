# The Debian package; make it with `cpack` in a build folder. It has the programs, DuckDB's library, the
# unit, and a configuration that listens on loopback only. dpkg-shlibdeps finds what else it needs.
if(NOT TARGET pennyweight OR NOT DUCKDB_LIBRARY)
  return()
endif()

# The programs find DuckDB in node_modules during the build, and in the package's folder once installed.
set_target_properties(pennyweight pennyweight_generate PROPERTIES INSTALL_RPATH /usr/lib/pennyweight)
set(package_files ${PROJECT_SOURCE_DIR}/deploy)
# Relative to the root of the file system (CPACK_PACKAGING_INSTALL_PREFIX).
install(TARGETS pennyweight pennyweight_generate RUNTIME DESTINATION usr/bin)
install(PROGRAMS ${DUCKDB_LIBRARY} DESTINATION usr/lib/pennyweight)
install(FILES ${package_files}/systemd/pennyweight.service DESTINATION usr/lib/systemd/system)
install(FILES ${package_files}/debian/pennyweight.yaml DESTINATION etc/pennyweight)
install(DIRECTORY ${package_files}/grafana DESTINATION usr/share/pennyweight
        FILES_MATCHING PATTERN "*.json" PATTERN "*.yaml")
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/guide/configuration.md
              ${PROJECT_SOURCE_DIR}/docs/guide/deploy.md
        DESTINATION usr/share/doc/pennyweight)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION usr/share/doc/pennyweight RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pennyweight)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "attributes every cent of a GPU bill to who caused it")
set(CPACK_PACKAGE_CONTACT "pennyweight maintainers <root@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_STRIP_FILES ON)
# The symbols are a package of their own, pennyweight-dbgsym.
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Where dpkg-shlibdeps finds the library that the package itself contains.
get_filename_component(duckdb_folder ${DUCKDB_LIBRARY} DIRECTORY)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${duckdb_folder})
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, tzdata, ca-certificates, fonts-dejavu-core")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    ${package_files}/debian/postinst ${package_files}/debian/prerm ${package_files}/debian/postrm
    ${package_files}/debian/conffiles)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
