#pragma once

#include <dlfcn.h>
#include <link.h>

#include <string>

/// What is asked of a library that dlopen gave.
namespace cudamatrix::suite {

/// False, and a null pointer, where the library has no such symbol.
template <typename Function>
bool bind_symbol(void* library, const std::string& name, Function& function) {
    function = library == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library, name.c_str()));
    return function != nullptr;
}

/// Where the loader found it; "" when it does not say.
[[nodiscard]] inline std::string path_of_library(void* library) {
    struct link_map* map = nullptr;
    if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) return "";
    return map->l_name;
}

/// Why the last dlopen failed.
[[nodiscard]] inline std::string load_error() {
    const char* why = ::dlerror();
    return why != nullptr ? why : "unknown error";
}

/// Whether that was because there is no file of this name: the loader names the file that it lacks, and
/// another one is something that the library itself needs.
[[nodiscard]] inline bool says_absent(const std::string& error, const std::string& name) {
    return error.rfind(name + ": cannot open shared object file: No such file", 0) == 0;
}

}  // namespace cudamatrix::suite
