// What a container answers to a lock's request, as pins.
#include <doctest/doctest.h>

#include <array>
#include <map>

#include "base/text.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/lock_request.hpp"
#include "render/templates/context.hpp"
#include "unit/render/lock_images.hpp"

using namespace cudamatrix;
using test::image_of;
using test::torch_image;

namespace {

Image archive_image() {
    auto image = image_of("debian12-cu11.8.0");
    image.cuda = "11.8.0";
    image.cuda_from = "archive";
    image.cuda_unpack = {"nvidia-cuda-toolkit", "libcudart11.0"};
    image.cuda_packages = {"nvidia-cuda-toolkit"};
    image.cuda_runtime = {"libcudart11.0"};
    return image;
}

// Answers of a container, by file name.
using Answers = std::map<std::string, std::string, std::less<>>;
LockAnswer answer(const Answers& answers) {
    return [&answers](std::string_view name) -> std::optional<std::string> {
        const auto found = answers.find(name);
        return found == answers.end() ? std::nullopt : std::optional(found->second);
    };
}

std::string report(const std::string& items) {
    return R"({"version": "1", "install": [)" + items + "]}";
}

std::string wheel(const std::string& name, const std::string& version, const std::string& digest,
                  const std::string& url = "https://files.example.org/w.whl") {
    return R"({"metadata": {"name": ")" + name + R"(", "version": ")" + version +
           R"("}, "download_info": {"url": ")" + url + R"(", "archive_info": {"hashes": {"sha256": ")" +
           digest + R"("}}}})";
}

const Answers kTorchAnswers{
    {"base.txt", "adduser=3.134\nlibc6:amd64=2.36-9+deb12u14\n"},
    {"apt-devel.txt",
     "Reading package lists...\nInst gcc-12-base (12.2.0-14+deb12u1 Debian:12.12/oldstable [amd64])\n"
     "Inst g++-12 [12.0] (12.2.0-14+deb12u1 Debian:12.12/oldstable [amd64])\nConf g++-12 (12.2.0-14 x)\n"},
    {"apt-runtime.txt",
     "Inst python3:amd64 (3.11.2-1+b1 Debian:12/x [amd64]) []\nInst python3-venv (3.11.2-1+b1 Debian:12/x "
     "[amd64])\n"},
    {"pip-wheels.json", report(wheel("torch", "2.6.0+cu124", std::string(64, 'a')) + "," +
                               wheel("Typing_Extensions", "4.12.2", std::string(64, 'b')))},
    {"pip-installer.json", report(wheel("uv", "0.13.8", std::string(64, 'c')))},
    {"python.txt", "Python 3.11.2\n"},
};

}  // namespace

TEST_CASE("answers of apt and pip become pins") {
    const auto image = torch_image();
    const auto resolved = read_resolution(image, answer(kTorchAnswers));
    REQUIRE_MESSAGE(resolved.ok(), (resolved.ok() ? "" : resolved.failure().diagnostics.front().message));
    const auto& pins = resolved->pins;
    CHECK(pins.asked == asked_of(image));
    CHECK(pins.index == "default");
    CHECK(pins.devel ==
          std::vector<AptPin>{{"g++-12", "12.2.0-14+deb12u1"}, {"gcc-12-base", "12.2.0-14+deb12u1"}});
    CHECK(pins.runtime == std::vector<AptPin>{{"python3", "3.11.2-1+b1"}, {"python3-venv", "3.11.2-1+b1"}});
    const std::string url = "https://files.example.org/w.whl";
    CHECK(pins.wheels == std::vector<WheelPin>{{"torch", "2.6.0+cu124", std::string(64, 'a'), url},
                                               {"typing-extensions", "4.12.2", std::string(64, 'b'), url}});
    CHECK(pins.installer == std::vector<WheelPin>{{"uv", "0.13.8", std::string(64, 'c'), url}});
    CHECK(resolved->base_packages == std::vector<AptPin>{{"adduser", "3.134"}, {"libc6", "2.36-9+deb12u14"}});
}

TEST_CASE("the address of a wheel is kept where it says something to others") {
    const auto kept = [](const std::string& url) {
        auto answers = kTorchAnswers;
        answers["pip-installer.json"] = report(wheel("uv", "0.13.8", std::string(64, 'c'), url));
        const auto resolved = read_resolution(torch_image(), answer(answers));
        REQUIRE(resolved.ok());
        const auto& pin = resolved->pins.installer.front();
        CHECK(pin.sha256 == std::string(64, 'c'));
        return pin.url;
    };
    for (const std::string url :
         {"https://files.example.org/packages/ab/uv-0.13.8-py3-none-any.whl", "http://[::1]:8080/uv.whl",
          "https://w.example.org/whl/torch-2.6.0%2Bcu124-cp311-cp311-linux_x86_64.whl"})
        CHECK(kept(url) == url);
    for (const std::string url :
         {"", "file:///tmp/uv.whl", "https://user:secret@files.example.org/uv.whl", "https:///uv.whl",
          "https://files.example.org", "https://files.example.org/uv.whl?X-Signature=abc",
          "https://files.example.org/uv.whl#sha256=ab", "https://files.example.org/uv.tar.gz",
          "https://files.example.org/a b.whl", "https://files.example.org/$(id).whl"})
        CHECK(kept(url).empty());
    CHECK(kept("https://files.example.org/" + std::string(1000, 'x') + ".whl").empty());
}

TEST_CASE("each library of the flavour runtime needs its pin, in the answer and in the lock") {
    auto packages = archive_image();
    packages.cuda_libraries = {"libcublas11", "libcufft10"};
    const std::string apt = "Inst libcudart11.0 (1 D [amd64])\nInst libcublas11 (1 D [amd64])\n";
    Answers answers{{"base.txt", "adduser=3.134\n"},
                    {"apt-devel.txt", "Inst g++-12 (12.2 D [amd64])\n"},
                    {"apt-toolkit.txt",
                     "'http://x/a.deb' nvidia-cuda-toolkit_11.8_amd64.deb 1 SHA256:a\n"
                     "'http://x/b.deb' libcudart11.0_11.8_amd64.deb 1 SHA256:b\n"},
                    {"apt-runtime.txt", apt}};
    const auto missing = read_resolution(packages, answer(answers));
    REQUIRE_FALSE(missing.ok());
    CHECK(missing.failure().diagnostics.front().message ==
          "the answer apt-runtime.txt of the lock cannot be believed: it says nothing of libcufft10");
    answers["apt-runtime.txt"] = apt + "Inst libcufft10 (1 D [amd64])\n";
    const auto whole = read_resolution(packages, answer(answers));
    REQUIRE(whole.ok());
    CHECK(gaps_in(whole->pins, packages, {}).size() == 0);

    auto wheels = image_of("debian12-cu13.4.3-runtime");
    wheels.cuda_from = "wheels";
    wheels.cuda_pins = {"nvidia-cuda-runtime==13.4.92"};
    wheels.cuda_libraries = {"nvidia-cublas==13.8.0.4"};
    ImagePins pins;
    pins.devel = {{"g++-12", "12.2"}};
    pins.python = {{"python3-venv", "3.11"}};
    pins.cuda = {{"nvidia-cuda-runtime", "13.4.92", std::string(64, 'a'), {}}};
    const auto gaps = gaps_in(pins, wheels, {});
    REQUIRE(gaps.size() == 1);
    CHECK(gaps[0].names == std::vector<std::string>{"nvidia-cublas==13.8.0.4"});
}

TEST_CASE("packages that are unpacked are read from the files' names") {
    const Answers answers{
        {"base.txt", "adduser=3.134\n"},
        {"apt-devel.txt", "Inst g++-12 (12.2.0-14 Debian:12/x [amd64])\n"},
        {"apt-runtime.txt", "Inst libcudart11.0 (11.8.89~11.8.0-5~deb12u1 Debian:12/x [amd64])\n"},
        {"apt-toolkit.txt",
         "'http://apt.example.org/pool/n/nvidia-cuda-toolkit_11.8.89~11.8.0-5_amd64.deb' "
         "nvidia-cuda-toolkit_11.8.89~11.8.0-5_amd64.deb 19 SHA256:ab\n"
         "'http://apt.example.org/pool/libcudart11.0_1%3a11.8_amd64.deb' libcudart11.0_1%3a11.8_amd64.deb 17 "
         "SHA256:cd\n"}};
    const auto resolved = read_resolution(archive_image(), answer(answers));
    REQUIRE_MESSAGE(resolved.ok(), (resolved.ok() ? "" : resolved.failure().diagnostics.front().message));
    CHECK(resolved->pins.toolkit ==
          std::vector<AptPin>{{"libcudart11.0", "1:11.8"}, {"nvidia-cuda-toolkit", "11.8.89~11.8.0-5"}});
    CHECK(resolved->pins.index == "");
    CHECK(resolved->pins.wheels.empty());
}

TEST_CASE("answers that cannot be believed are refused") {
    const auto why = [](const std::string& file, const std::string& content) {
        auto answers = kTorchAnswers;
        if (content == "(missing)") {
            answers.erase(file);
        } else {
            answers[file] = content;
        }
        const auto resolved = read_resolution(torch_image(), answer(answers));
        REQUIRE_FALSE_MESSAGE(resolved.ok(), file, content);
        CHECK(resolved.failure().code == ExitCode::environment);
        return resolved.failure().diagnostics.front().message;
    };
    for (const auto& [file, content] : kTorchAnswers) {
        CHECK(why(file, "(missing)") ==
              "the answer " + file + " of the lock cannot be believed: it is missing");
    }
    const std::string a64(64, 'a');
    const std::vector<std::array<std::string, 3>> rows{
        {"apt-devel.txt", "",
         "the answer apt-devel.txt of the lock cannot be believed: it says nothing of g++-12"},
        {"apt-devel.txt", "Inst g++-12\n", "cannot be believed: Inst g++-12"},
        {"apt-devel.txt", "Inst g++-12;id (1 x)\n", "\"g++-12;id 1\""},
        {"apt-devel.txt", "Inst g++-12 ($(id) x)\n", "\"g++-12 $(id)\""},
        {"apt-devel.txt", "Inst -o (1 x)\n", "\"-o 1\""},
        {"base.txt", "x\n", "cannot be believed"},
        {"pip-wheels.json", "{", "cannot be believed"},
        {"pip-wheels.json", "[1]", "it says nothing of torch==2.6.0"},
        {"pip-wheels.json", report("1"), "cannot be believed"},
        {"pip-wheels.json", report(wheel("torch", "2.6.0", "abc")), "with sha256 \"abc\""},
        {"pip-wheels.json", report(wheel("torch", "2.7.0", a64)), "it says nothing of torch==2.6.0"},
        {"pip-wheels.json", report(wheel("torch", "2.6.0 --hash", a64)), "cannot be believed"},
        {"python.txt", "Python 3.12.1",
         "the answer python.txt of the lock cannot be believed: \"Python 3.12.1\" where python 3.11 is promised"},
        {"python.txt", "Python 3.11.1 experimental free-threading build", "is promised"}};
    for (const auto& [file, content, said] : rows) {
        const auto message = why(file, content);
        CHECK_MESSAGE(message.find(said) != std::string::npos, message);
    }
    CHECK(why("pip-wheels.json", report(wheel("torch\\u001b[31m", "2.6.0", a64))).find('\x1b') ==
          std::string::npos);
}

TEST_CASE("a package of dnf begins with a letter or a digit: an option of a command does not pass") {
    for (const auto* name : {"git", "gcc-c++", "0ad", "Xorg.x"})
        CHECK(is_rpm_package(name));
    for (const auto* name : {"", "-y", "--setopt", ".git", "+git", "_git", "git core", "git;ls", "g$t"})
        CHECK_FALSE(is_rpm_package(name));
    CHECK_FALSE(is_rpm_package(std::string(10'000, 'a')));
}

TEST_CASE("a release with a local part is answered by that part only") {
    auto image = torch_image();
    image.installer = "uv==0.13.8+a";
    const auto answered_by = [&](const std::string& version) {
        auto answers = kTorchAnswers;
        answers["pip-installer.json"] = report(wheel("uv", version, std::string(64, 'c')));
        return read_resolution(image, answer(answers)).ok();
    };
    CHECK(answered_by("0.13.8+a"));
    CHECK_FALSE(answered_by("0.13.8+b"));
    CHECK_FALSE(answered_by("0.13.8"));
    image.installer = "uv==0.13.8";
    CHECK(answered_by("0.13.8+b"));
}
