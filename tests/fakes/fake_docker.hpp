// A folder with a fake docker client first on PATH, and what it was called with.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "folders.hpp"

namespace cudamatrix::fakes {

class FakeDocker {
  public:
    FakeDocker() {
        std::string pattern = (std::filesystem::temp_directory_path() / "cudamatrix-fake-XXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
        std::filesystem::create_directories(root_ / "bin");
        std::filesystem::create_directories(root_ / "state");
        std::filesystem::create_directories(root_ / "state" / "export");
        install("docker");
        // Nothing of this machine but what the fakes themselves need: no docker, no GPU, no compiler of its
        // own.
        std::filesystem::create_directories(root_ / "tools");
        for (const auto* tool : {"env", "python3", "sleep", "chmod", "mkdir", "cat"}) {
            const auto found = find_program(tool, {{"PATH", "/usr/bin:/bin:/usr/local/bin"}});
            if (found) std::filesystem::create_symlink(*found, root_ / "tools" / tool);
        }
        environment = {
            {"PATH", (root_ / "bin").string() + ":" + (root_ / "tools").string()},
            {"DOCKER_HOST", "unix:///nonexistent/docker.sock"},  // for a real client that is tried last
            {"FAKE_DOCKER_DIR", state().string()}};
    }
    ~FakeDocker() {
        std::error_code error;
        std::filesystem::remove_all(root_, error);
    }
    FakeDocker(const FakeDocker&) = delete;
    FakeDocker& operator=(const FakeDocker&) = delete;

    [[nodiscard]] const std::filesystem::path& root() const { return root_; }
    [[nodiscard]] std::filesystem::path state() const { return root_ / "state"; }
    [[nodiscard]] std::string client() const { return (root_ / "bin" / "docker").string(); }

    /// Puts the fake into `folder` below the root too, as a copy (another file: another client).
    std::string install(const std::string& name, const std::string& folder = "bin") const {
        const auto path = root_ / folder / name;
        std::filesystem::create_directories(path.parent_path());
        std::filesystem::copy_file(std::filesystem::path(tests_dir()) / "fakes" / "fake_docker.py", path,
                                   std::filesystem::copy_options::overwrite_existing);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        std::filesystem::copy_file(std::filesystem::path(source_dir()) / "kernels/registry.def",
                                   path.parent_path() / "registry.def",
                                   std::filesystem::copy_options::overwrite_existing);
        return path.string();
    }

    void faults(const std::string& words) { environment["FAKE_DOCKER_FAULTS"] = words; }

    /// Puts a shell script `name` on PATH.
    void script(const std::string& name, const std::string& body) const {
        const auto path = root_ / "bin" / name;
        std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }

    /// Every call so far whose first argument is `verb` (all of them when it is empty).
    [[nodiscard]] std::vector<std::vector<std::string>> calls(const std::string& verb = {}) const {
        std::vector<std::vector<std::string>> found;
        std::ifstream in(state() / "calls.jsonl");
        for (std::string line; std::getline(in, line);) {
            const auto json = parse_json(line, "calls");
            if (!json.ok()) continue;
            auto argv = (*json)["argv"].get<std::vector<std::string>>();
            if (verb.empty() || argv.front() == verb) found.push_back(std::move(argv));
        }
        return found;
    }

    /// Names of the containers that are still there.
    [[nodiscard]] std::vector<std::string> containers() const {
        std::vector<std::string> names;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(state() / "containers", error)) {
            names.push_back(entry.path().filename().string());
        }
        return names;
    }

    Environment environment;

  private:
    std::filesystem::path root_;
};

}  // namespace cudamatrix::fakes
