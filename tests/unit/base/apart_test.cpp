#include "base/apart.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <thread>

using namespace cudamatrix;
using std::chrono::milliseconds;

TEST_CASE("apart: what the work returns comes back") {
    const auto answer = run_apart([] { return std::string("a\0b\n", 4); }, milliseconds(60'000));
    CHECK(answer.text == std::string("a\0b\n", 4));
    CHECK(answer.why_not.empty());
    CHECK(run_apart([] { return std::string(); }, milliseconds(60'000)).why_not.empty());
    CHECK(run_apart([] { return std::string(3u << 20, 'x'); }, milliseconds(60'000)).text.size() == 1u << 20);
}

TEST_CASE("apart: nothing that the work changes or prints is seen here") {
    int changed = 0;
    const auto answer = run_apart(
        [&] {
            changed = 1;
            const auto written = ::write(STDOUT_FILENO, "loud\n", 5);
            return std::to_string(changed + written);
        },
        milliseconds(60'000));
    CHECK(answer.text == "6");
    CHECK(changed == 0);
}

TEST_CASE("apart: work that crashes, throws, leaves or hangs") {
    const auto why = [](const std::function<std::string()>& work, milliseconds limit) {
        return run_apart(work, limit).why_not;
    };
    CHECK(why(
              []() -> std::string {
                  std::raise(SIGKILL);
                  return {};
              },
              milliseconds(60'000)) == "killed by signal 9");
    CHECK(why([]() -> std::string { ::_exit(3); }, milliseconds(60'000)) == "exit code 3");
    CHECK(why([]() -> std::string { throw std::runtime_error("x"); }, milliseconds(60'000)) ==
          "exit code 70");
    CHECK(why(
              []() -> std::string {
                  for (;;)
                      std::this_thread::sleep_for(milliseconds(100));
              },
              milliseconds(200)) == "no answer within 0.2 s");
}

TEST_CASE("apart: refused beside another thread") {
    std::atomic<bool> over = false;
    std::thread other([&] { over.wait(false); });
    const auto answer = run_apart([] { return std::string("done"); }, milliseconds(60'000));
    over = true;
    over.notify_one();
    other.join();
    CHECK(answer.text == "");
    CHECK(answer.why_not == "this process has other threads: a copy of it could hang");
}
