// An output folder of a test, and all that lies in it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "temp_folder.hpp"

namespace cudamatrix::test {

/// Its output folder is out/.
struct OutFolder : TempFolder {
    [[nodiscard]] std::filesystem::path out() const { return path() / "out"; }
    [[nodiscard]] std::filesystem::path at(const std::string& name) const { return path() / name; }
    [[nodiscard]] std::string read(const std::string& name) const { return bytes_of(out() / name); }
    void put(const std::string& name, const std::string& content) const { put_file(out() / name, content); }
};

/// All files below a folder, our own bookkeeping too.
[[nodiscard]] inline std::map<std::string, std::string> tree_of(const std::filesystem::path& root) {
    namespace fs = std::filesystem;
    std::map<std::string, std::string> tree;
    if (!fs::exists(root)) return tree;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (entry.is_directory()) continue;
        tree[entry.path().lexically_relative(root).generic_string()] = bytes_of(entry.path());
    }
    return tree;
}

}  // namespace cudamatrix::test
