#include "base/apart.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace cudamatrix;
using namespace std::chrono_literals;

TEST_CASE("work apart: says how it ended, and changes nothing here") {
    int changed = 0;
    CHECK(done_apart([&] {
        changed = 1;
        return true;
    }));
    CHECK(changed == 0);
    CHECK_FALSE(done_apart([] { return false; }));
    CHECK_FALSE(done_apart([]() -> bool {
        ::kill(::getpid(), SIGKILL);
        return true;
    }));
}

TEST_CASE("work apart: goes on when the process is killed") {
    auto folder = (std::filesystem::temp_directory_path() / "cudamatrix-apart-XXXXXX").string();
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const auto begun = std::filesystem::path(folder) / "begun",
               ended = std::filesystem::path(folder) / "ended";
    const auto process = ::fork();
    REQUIRE(process >= 0);
    if (process == 0) {
        const bool done = done_apart([&] {
            std::ofstream(begun) << "1";
            std::this_thread::sleep_for(200ms);
            std::ofstream(ended) << "1";
            return true;
        });
        ::_exit(done ? 0 : 1);
    }
    const auto appears = [](const std::filesystem::path& path) {
        for (int i = 0; i < 3000 && !std::filesystem::exists(path); ++i)
            std::this_thread::sleep_for(10ms);
        return std::filesystem::exists(path);
    };
    REQUIRE(appears(begun));
    ::kill(process, SIGKILL);
    int status = 0;
    CHECK(::waitpid(process, &status, 0) == process);
    CHECK(WIFSIGNALED(status));
    CHECK(appears(ended));
    std::filesystem::remove_all(folder);
}
