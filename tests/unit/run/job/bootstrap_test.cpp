#include "run/job/engine_build.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <thread>

#include "base/sha256.hpp"
#include "fakes/fake_docker.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

// A program `bootstrapper` on PATH that does what `body` says; $1 is the tar.
struct Bootstrapper {
    explicit Bootstrapper(const std::string& body) { write(body); }
    void write(const std::string& body) const {
        const auto path = fake.root() / "bin" / "bootstrapper";
        std::ofstream(path) << "#!/bin/sh\necho call >> '" << (fake.root() / "calls").string() << "'\n"
                            << body << "\n";
        fs::permissions(path, fs::perms::owner_all);
    }
    [[nodiscard]] std::size_t calls() const {
        std::ifstream in(fake.root() / "calls");
        std::size_t lines = 0;
        for (std::string line; std::getline(in, line);)
            ++lines;
        return lines;
    }
    [[nodiscard]] BootstrapContext context() const {
        return {fake.root() / "bootstrap", fake.environment, nullptr, {}};
    }
    fakes::FakeDocker fake;
    Bootstrap bootstrap{"bookworm", {"bootstrapper", "{output}"}, {}, "bootstrap-bookworm.tar"};
};

}  // namespace

TEST_CASE("bootstrap: the tar is made once, with its hash, and taken from the folder afterwards") {
    const Bootstrapper tool("printf content > \"$1\"");
    const auto first = ensure_bootstrap(tool.bootstrap, tool.context());
    REQUIRE(first.ok());
    CHECK_FALSE(first->reused);
    CHECK(first->sha256 == sha256("content"));
    CHECK(first->path.filename() == "bootstrap-bookworm.tar");
    const auto second = ensure_bootstrap(tool.bootstrap, tool.context());
    REQUIRE(second.ok());
    CHECK(second->reused);
    CHECK(second->sha256 == first->sha256);
    CHECK(tool.calls() == 1);
}

TEST_CASE("bootstrap: a tar that changed, lost its note or was made by another command is made anew") {
    Bootstrapper tool("printf content > \"$1\"");
    const auto first = ensure_bootstrap(tool.bootstrap, tool.context());
    REQUIRE(first.ok());
    SUBCASE("a byte less") {
        fs::resize_file(first->path, 6);
    }
    SUBCASE("no note") {
        fs::remove(first->path.string() + ".json");
    }
    SUBCASE("another command") {
        tool.bootstrap.command.emplace_back("--more");
    }
    const auto second = ensure_bootstrap(tool.bootstrap, tool.context());
    REQUIRE(second.ok());
    CHECK_FALSE(second->reused);
    CHECK(tool.calls() == 2);
}

TEST_CASE("bootstrap: the variables of the recipe reach the command and are part of what was made") {
    Bootstrapper tool("printf \"$SOURCE_DATE_EPOCH\" > \"$1\"");
    tool.bootstrap.environment = {{"SOURCE_DATE_EPOCH", "1735689600"}};
    const auto first = ensure_bootstrap(tool.bootstrap, tool.context());
    REQUIRE(first.ok());
    CHECK(first->sha256 == sha256("1735689600"));
    tool.bootstrap.environment = {{"SOURCE_DATE_EPOCH", "1735689601"}};
    const auto second = ensure_bootstrap(tool.bootstrap, tool.context());
    REQUIRE(second.ok());
    CHECK_FALSE(second->reused);
    CHECK(second->sha256 != first->sha256);
}

TEST_CASE("bootstrap: a failing command is an environment failure, and leaves no tar behind") {
    const Bootstrapper tool(
        "printf torn > \"$1\"; echo 'I: start' >&2; echo 'E: no such mirror' >&2; echo 'I: done' >&2; exit "
        "25");
    const auto made = ensure_bootstrap(tool.bootstrap, tool.context());
    REQUIRE_FALSE(made.ok());
    CHECK(made.failure().code == ExitCode::environment);
    CHECK(made.failure().diagnostics.front().message ==
          "the base of bookworm cannot be bootstrapped: bootstrapper: exit code 25: E: no such mirror");
    CHECK(fs::is_empty(tool.context().folder));
}

TEST_CASE("bootstrap: one that takes longer than a step may is ended and leaves no tar behind") {
    const Bootstrapper tool("printf half > \"$1\"; exec sleep 1000");
    auto context = tool.context();
    context.limit = 500ms;
    const auto made = ensure_bootstrap(tool.bootstrap, context);
    REQUIRE_FALSE(made.ok());
    const auto& problem = made.failure().diagnostics.front();
    CHECK(problem.message ==
          "the base of bookworm cannot be bootstrapped: bootstrapper: timed out after 1 s");
    CHECK(problem.fix == "check the network, or give it longer: --build-timeout MINUTES");
    CHECK(fs::is_empty(context.folder));
}

TEST_CASE("bootstrap: a command that says success and writes nothing is a failure") {
    const Bootstrapper tool("exit 0");
    CHECK_FALSE(ensure_bootstrap(tool.bootstrap, tool.context()).ok());
}

TEST_CASE("bootstrap: a missing program is named with its package, and nothing is created in its place") {
    Bootstrapper tool("exit 0");
    tool.bootstrap.command.front() = "no-such-bootstrap";
    const auto made = ensure_bootstrap(tool.bootstrap, tool.context());
    REQUIRE_FALSE(made.ok());
    CHECK(made.failure().code == ExitCode::environment);
    CHECK(made.failure().diagnostics.front().message ==
          "the base of bookworm cannot be bootstrapped: no-such-bootstrap is not on PATH");
    CHECK(made.failure().diagnostics.front().fix ==
          "install it (Debian, Ubuntu: apt-get install no-such-bootstrap)");
    CHECK(fs::is_empty(tool.context().folder));
}

TEST_CASE("bootstrap: an interrupt ends it and leaves no tar behind") {
    const Bootstrapper tool("printf torn > \"$1\"; exec sleep 60");
    Cancellation cancellation;
    auto context = tool.context();
    context.cancellation = &cancellation;
    std::thread later([&] {
        std::this_thread::sleep_for(300ms);
        cancellation.request();
    });
    const auto made = ensure_bootstrap(tool.bootstrap, context);
    later.join();
    REQUIRE_FALSE(made.ok());
    CHECK(made.failure().code == ExitCode::interrupted);
    CHECK(fs::is_empty(context.folder));
}
