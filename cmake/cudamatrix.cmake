# What every target of this project shares: warnings, sanitizers, the compiler cache, and the library-per-folder helper.

find_program(CUDAMATRIX_CCACHE ccache)
if(CUDAMATRIX_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Without this sloppiness ccache refuses whatever uses a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CUDAMATRIX_CCACHE})
endif()

add_library(cudamatrix_options INTERFACE)
target_compile_options(cudamatrix_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # gcc 12 warns about std::string operator+ of literals (GCC bug 105651, fixed in 13).
    target_compile_options(cudamatrix_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(cudamatrix_options INTERFACE -Wno-sign-conversion)  # g++ counts it apart from -Wconversion, too
endif()
if(CUDAMATRIX_WERROR)
    target_compile_options(cudamatrix_options INTERFACE -Werror)
endif()
if(CUDAMATRIX_SANITIZE)
    # Undefined behaviour is looked for in the program, not in the tests' own words: a fifth of the time that those compile.
    target_compile_options(cudamatrix_options INTERFACE -fsanitize=${CUDAMATRIX_SANITIZE} -fno-omit-frame-pointer
                                                        $<$<BOOL:$<TARGET_PROPERTY:CUDAMATRIX_OF_TESTS>>:-fno-sanitize=undefined>
                                                        -fno-sanitize-recover=all)
    target_link_options(cudamatrix_options INTERFACE -fsanitize=${CUDAMATRIX_SANITIZE})
endif()

# Where a room is compiled at once (CMAKE_UNITY_BUILD), in few pieces: each reads the same headers again.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 32)

# The headers that most files use, compiled once: parsing them is a third of a build. Every file still includes what it needs
# (`tidy` compiles without this). kernels/ and src/fatbin are C++17 and do without.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
set(cudamatrix_std_headers <algorithm> <array> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <optional> <set> <span>
                           <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
add_library(cudamatrix_std OBJECT ${CMAKE_CURRENT_LIST_DIR}/std.cpp)
target_link_libraries(cudamatrix_std PRIVATE cudamatrix_options fmt::fmt nlohmann_json::nlohmann_json)
target_precompile_headers(cudamatrix_std PRIVATE ${cudamatrix_std_headers})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(cudamatrix_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # ccache asks for it
endif()

# What reads bytes from outside, or writes what others read: with CUDAMATRIX_BUILT_ROOMS only these rooms are compiled,
# and those of CUDAMATRIX_COMPILED_ROOMS.
set(cudamatrix_rooms_of_foreign_bytes base registry matrix templates output image lock files scan measure sources audit symptoms)

# cudamatrix_library(FOLDER [USES base matrix ...] [LINKS third-party ...] [SOURCES generated.cpp ...]), for src/CMakeLists.txt:
# a library named by the folder's last step, of all files below it. USES names other such libraries; LINKS are private, so that a
# third-party header reaches this folder only.
function(cudamatrix_library folder)
    cmake_parse_arguments(arg "" "" "SOURCES;USES;LINKS;PUBLIC_LINKS" ${ARGN})
    get_filename_component(name ${folder} NAME)
    if(CUDAMATRIX_BUILT_ROOMS AND NOT name IN_LIST cudamatrix_rooms_of_foreign_bytes AND NOT name IN_LIST CUDAMATRIX_COMPILED_ROOMS)
        set(built ${CUDAMATRIX_BUILT_ROOMS}/libcudamatrix_${name}.a)
        if(NOT EXISTS ${built})
            message(FATAL_ERROR "${built} is missing: build its preset first (cmake --build --preset tests)")
        endif()
        add_library(cudamatrix_${name} STATIC IMPORTED GLOBAL)
        add_library(cudamatrix::${name} ALIAS cudamatrix_${name})
        set_target_properties(cudamatrix_${name} PROPERTIES IMPORTED_LOCATION ${built})
        target_include_directories(cudamatrix_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
        target_link_libraries(cudamatrix_${name} INTERFACE ${arg_PUBLIC_LINKS})
        foreach(use IN LISTS arg_USES)
            target_link_libraries(cudamatrix_${name} INTERFACE cudamatrix::${use})
        endforeach()
        return()
    endif()
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
    list(FILTER files EXCLUDE REGEX /embed/)  # programs that run while building
    add_library(cudamatrix_${name} STATIC ${files} ${arg_SOURCES})
    add_library(cudamatrix::${name} ALIAS cudamatrix_${name})
    target_include_directories(cudamatrix_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(cudamatrix_${name} PRIVATE cudamatrix_options ${arg_LINKS} PUBLIC ${arg_PUBLIC_LINKS})
    target_precompile_headers(cudamatrix_${name} REUSE_FROM cudamatrix_std)
    foreach(use IN LISTS arg_USES)
        target_link_libraries(cudamatrix_${name} PUBLIC cudamatrix::${use})
    endforeach()
endfunction()
