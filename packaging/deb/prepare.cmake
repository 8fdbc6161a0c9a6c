# Run by cpack on what is installed, before it is packed: of a Debian package, the files that Debian's policy wants are written here.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(doc ${usr}/share/doc/cudamatrix)
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

# The same time for everything: SOURCE_DATE_EPOCH, else now.
string(TIMESTAMP year "%Y" UTC)
string(TIMESTAMP day "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog.Debian
     "cudamatrix (${version}) unstable; urgency=medium\n\n  * Release ${CPACK_PACKAGE_VERSION}: see changelog.gz.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${day}\n")
file(COPY_FILE ${CPACK_CUDAMATRIX_SOURCE}/CHANGELOG.md ${doc}/changelog)

# The license of cudamatrix is one of those that every Debian system has.
file(REMOVE ${doc}/LICENSE)
set(copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: cudamatrix
Source: ${CPACK_PACKAGE_HOMEPAGE_URL}

Files: *
Copyright: ${year} the contributors of cudamatrix
License: Apache-2.0
 On Debian systems, the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
")
if(CPACK_CUDAMATRIX_LICENSES)
    string(APPEND copyright "Comment:
 The program also contains the libraries whose licenses are in
 /usr/share/doc/cudamatrix/THIRD-PARTY-LICENSES.
")
    # Static on purpose: one program for every distribution. It names dpkg's database because images have one. No upload to Debian.
    file(WRITE ${usr}/share/lintian/overrides/cudamatrix
         "cudamatrix: statically-linked-binary [usr/bin/cudamatrix]
cudamatrix: embedded-library *
cudamatrix: uses-dpkg-database-directly [usr/bin/cudamatrix]
cudamatrix: initial-upload-closes-no-bugs *
")
endif()
file(WRITE ${doc}/copyright "${copyright}")

file(GLOB pages ${usr}/share/man/man1/*.1)
execute_process(COMMAND gzip -9nf ${pages} ${doc}/changelog ${doc}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
