// Stands in for a program of the suite. What it does is a word: the environment variable
// FAKE_TEST_<program>_<part> (program = the name it was started by, part = its --part), or, started without
// --part, its first argument.
//   pass fail skip:REASON error    a proper record and exit code
//   silent:N                       no record, exit code N
//   lie                            the record says pass, the exit code says fail
//   red-pass                       the record says pass although a check does not hold
//   other-id garbage flood         records that are not to be believed
//   segv hang stubborn orphan      ends by a signal; waits; waits and ignores SIGTERM; leaves a child with
//   open pipes noisy                          passes after 200 KiB on stderr
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string option(int argc, char** argv, const std::string& name) {
    for (int i = 1; i + 1 < argc; ++i) {
        if (name == argv[i]) return argv[i + 1];
    }
    return "";
}

void send(const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t n = ::write(3, text.data() + done, text.size() - done);
        if (n <= 0) return;
        done += static_cast<std::size_t>(n);
    }
}

std::string record(const std::string& id, const std::string& part, const std::string& status, bool ok,
                   const std::string& reason = "") {
    return "{\"id\":\"" + id + "\",\"part\":\"" + part + "\",\"status\":\"" + status + "\"" +
           (reason.empty() ? "" : ",\"reason\":\"" + reason + "\"") +
           ",\"summary\":\"said by a stand-in\",\"checks\":[{\"name\":\"c\",\"ok\":" +
           (ok ? "true" : "false") + "}]}\n";
}

void wait_for_ever() {
    for (;;)
        ::pause();
}

int act(const std::string& what, const std::string& id, const std::string& part) {
    if (what == "pass") return send(record(id, part, "pass", true)), 0;
    if (what == "fail") return send(record(id, part, "fail", false, "mismatch")), 1;
    if (what == "error") return send(record(id, part, "error", false, "setup")), 3;
    if (what.rfind("skip:", 0) == 0) return send(record(id, part, "skip", true, what.substr(5))), 77;
    if (what.rfind("silent:", 0) == 0) return std::atoi(what.c_str() + 7);
    if (what == "lie") return send(record(id, part, "pass", true)), 1;
    if (what == "red-pass") return send(record(id, part, "pass", false)), 0;
    if (what == "other-id") return send(record("env.vars", part, "pass", true)), 0;
    if (what == "garbage") return send("{\"id\":\"" + id + "\","), 0;
    if (what == "flood") return send(std::string(3 * 1024 * 1024, ' ')), 0;
    if (what == "segv") {
        ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would catch it
        ::raise(SIGSEGV);
    }
    if (what == "hang") wait_for_ever();
    if (what == "stubborn") {
        ::signal(SIGTERM, SIG_IGN);
        wait_for_ever();
    }
    if (what == "orphan") {
        if (::fork() == 0) wait_for_ever();
        return send(record(id, part, "pass", true)), 0;
    }
    if (what == "noisy") {
        for (int i = 0; i < 200 * 1024 / 16; ++i)
            std::fprintf(stderr, "line %10d\n", i);
        return send(record(id, part, "pass", true)), 0;
    }
    std::fprintf(stderr, "fake_suite_test: unknown word '%s'\n", what.c_str());
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    std::string program = argv[0];
    program = program.substr(program.rfind('/') + 1);
    const std::string part = option(argc, argv, "--part");
    if (part.empty()) return act(argc > 1 ? argv[1] : "", "cmp.vadd", "gpu");
    std::string id = program;
    id.replace(id.find('_'), 1, ".");
    const char* what = std::getenv(("FAKE_TEST_" + program + "_" + part).c_str());
    return act(what != nullptr ? what : "pass", id, part);
}
