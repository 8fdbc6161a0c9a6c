// A folder for --facts, and what is wrong with it.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.hpp"
#include "base/text.hpp"
#include "knowledge/facts/facts.hpp"

namespace cudamatrix::test {

inline constexpr const char* kToday = "2026-12-01";

class Folder {
  public:
    Folder()
        : path_(std::filesystem::temp_directory_path() / fmt::format("cudamatrix-overlay-{}", ::getpid())) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    void write(const std::string& name, const std::string& content) {
        const auto written = file::write(path_ / name, content);
        REQUIRE(written);
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

// What --facts says of the folder on kToday.
inline std::string mistakes_of(const Folder& folder) {
    const auto facts = Facts::with_overlay(folder.path(), kToday);
    if (facts) return "(none)";
    CHECK(facts.failure().code == ExitCode::bad_input);
    std::string out;
    for (const auto& diagnostic : facts.failure().diagnostics)
        out += render(diagnostic, {});
    return text::replace_all(out, folder.path().string() + "/", "");
}

}  // namespace cudamatrix::test
