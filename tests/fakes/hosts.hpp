// Machines as files: bin/ in the place of PATH, proc/ and etc/ in the place of the system's.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "folders.hpp"
#include "run/host/host.hpp"
#include "temp_folder.hpp"

namespace cudamatrix::fakes {

/// A machine that consists of nothing but the files of tests/fakes/hosts/NAME.txt: each after a line
/// "==== PATH", and last, after "==== expected", the whole text of what is found.
class Host {
  public:
    explicit Host(std::filesystem::path file) : file_(std::move(file)) {
        std::string name;
        for (const auto& line : text::split(test::bytes_of(file_), '\n')) {
            if (line.starts_with("==== "))
                name = line.substr(5);
            else if (name == "expected")
                expected += line + "\n";
            else
                folder_.put(name, folder_.text(name) + line + "\n");
        }
        expected.pop_back();  // the file ends with a newline
        for (const auto& program : std::filesystem::directory_iterator(folder_ / "bin", error_))
            std::filesystem::permissions(program.path(), std::filesystem::perms::owner_all);
    }
    static Host named(std::string_view name) {
        return Host(std::filesystem::path(tests_dir()) / "fakes" / "hosts" / (std::string(name) + ".txt"));
    }
    [[nodiscard]] probe::Machine machine() const {
        return {.environment = {{"PATH", (folder_ / "bin").string()}},
                .root = folder_.path(),
                .arch = "x86_64",
                .glibc = "2.36",
                .time_limit = std::chrono::seconds(2)};
    }
    /// Writes another text into the file as what is expected.
    void expect(const std::string& text) {
        const auto all = test::bytes_of(file_);
        test::put_file(file_, all.substr(0, all.find("==== expected\n") + 14) + text);
        expected = text;
    }

    std::string expected;

  private:
    std::filesystem::path file_;
    test::TempFolder folder_;
    std::error_code error_;
};

/// The files of tests/fakes/hosts, sorted.
inline std::vector<std::filesystem::path> hosts() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(tests_dir()) / "fakes" / "hosts"))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace cudamatrix::fakes
