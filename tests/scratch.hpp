// A folder of its own for a test, gone with it.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

class Scratch {
  public:
    Scratch() {
        auto pattern = (std::filesystem::temp_directory_path() / "cudamatrix-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    /// Writes a file, and the folders that it lies in.
    std::filesystem::path put(std::string_view name, std::string_view content, bool program = false) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << content;
        if (program) std::filesystem::permissions(path_ / name, std::filesystem::perms::owner_all);
        return path_ / name;
    }
    /// How many files and folders lie in it.
    [[nodiscard]] std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator{}));
    }

  private:
    std::filesystem::path path_;
};
