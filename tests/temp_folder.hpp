// A folder for one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cudamatrix::test {

/// The bytes of a file; none where there is no such file.
[[nodiscard]] inline std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Writes a file and makes the folders above it.
inline void put_file(const std::filesystem::path& path, std::string_view content) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
}

/// An empty folder that goes with this object.
class TempFolder {
  public:
    TempFolder() {
        auto pattern = (std::filesystem::temp_directory_path() / "cudamatrix-test-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
        path_ = pattern;
    }
    ~TempFolder() {
        std::error_code error;
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all, error);
        std::filesystem::remove_all(path_, error);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const {
        return path_ / name;
    }
    /// The path of what was written, with the folders above it; a program may be run.
    std::filesystem::path put(const std::filesystem::path& name, std::string_view content = {},
                              bool program = false) const {
        put_file(path_ / name, content);
        if (program) std::filesystem::permissions(path_ / name, std::filesystem::perms::owner_all);
        return path_ / name;
    }
    /// What lies directly in it, hidden names too.
    [[nodiscard]] std::size_t entries() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
    }
    [[nodiscard]] std::string text(const std::filesystem::path& name) const { return bytes_of(path_ / name); }

  private:
    std::filesystem::path path_;
};

}  // namespace cudamatrix::test
