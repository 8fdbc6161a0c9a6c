#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/build_info.hpp"
#include "base/text.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/lock_request.hpp"
#include "render/lock/lock_file.hpp"
#include "render/templates/pin_syntax.hpp"

using namespace cudamatrix;
namespace fs = std::filesystem;

namespace {

Image image_of(std::string id) {
    Image image;
    image.id = std::move(id);
    image.family = "debian";
    image.os = "debian12";
    image.suite = "bookworm";
    image.flavour = "runtime";
    image.arch = "x86_64";
    image.compiler = "g++-12";
    return image;
}

Image torch_image() {
    auto image = image_of("debian12-torch2.6.0_cu124");
    image.torch = "2.6.0";
    image.torch_variant = "cu124";
    image.python = "3.11";
    image.python_from = "distribution";
    image.installer = "uv==0.13.8";
    return image;
}

Image archive_image() {
    auto image = image_of("debian12-cu11.8.0");
    image.cuda = "11.8.0";
    image.cuda_from = "archive";
    image.cuda_unpack = {"nvidia-cuda-toolkit", "libcudart11.0"};
    image.cuda_packages = {"nvidia-cuda-toolkit"};
    image.cuda_runtime = {"libcudart11.0"};
    return image;
}

Lock sample() {
    Lock lock;
    lock.tool = "0.1.0";
    lock.facts = "abc";
    lock.templates = "def";
    lock.bases["bookworm"] = {
        std::string(64, '1'), {"mmdebstrap", "--x=\"y\"", "{output}"}, {{"b", "2"}, {"a", "1:1.0~rc1+b2-3"}}};
    ImagePins pins;
    pins.asked = asked_of(torch_image());
    pins.index = "default";
    pins.devel = {{"g++-12", "12.2.0-14"}};
    pins.runtime = {{"python3", "3.11.2-1"}, {"python3-venv", "3.11.2-1"}};
    pins.wheels = {{"torch", "2.6.0", std::string(64, '2')}, {"numpy", "2.2.1", std::string(64, '3')}};
    pins.installer = {{"uv", "0.13.8", std::string(64, '4')}};
    lock.images["debian12-torch2.6.0_cu124"] = pins;
    return lock;
}

std::string message_of(std::string_view text) {
    const auto lock = parse_lock(text, "cudamatrix.lock");
    REQUIRE_FALSE_MESSAGE(lock.ok(), text);
    CHECK(lock.failure().code == ExitCode::bad_input);
    CHECK_FALSE(lock.failure().diagnostics.front().fix.empty());
    return lock.failure().diagnostics.front().message;
}

std::string changed(std::string_view from, std::string_view to) {
    const auto text = lock_text(sample());
    REQUIRE(text.find(from) != std::string::npos);
    return text::replace_all(text, from, to);
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

TEST_CASE("a lock reads back as it was written, and is written the same way whatever the order") {
    const auto lock = sample();
    const auto text = lock_text(lock);
    auto back = parse_lock(text, "cudamatrix.lock");
    REQUIRE(back.ok());
    CHECK(lock_text(*back) == text);
    auto shuffled = lock;
    std::reverse(shuffled.bases["bookworm"].packages.begin(), shuffled.bases["bookworm"].packages.end());
    std::reverse(shuffled.images.begin()->second.wheels.begin(),
                 shuffled.images.begin()->second.wheels.end());
    CHECK(lock_text(shuffled) == text);
    CHECK(text.ends_with("}\n"));
    CHECK(text.find("\"a=1:1.0~rc1+b2-3\",\n        \"b=2\"") != std::string::npos);
}

TEST_CASE("what is no lock is refused with a reason and a way out") {
    CHECK(message_of("").find("cudamatrix.lock") != std::string::npos);
    CHECK(message_of("[]") == "cudamatrix.lock is not a lock file: it has no schema_version");
    CHECK(message_of("{}") == "cudamatrix.lock is not a lock file: it has no schema_version");
    CHECK(message_of(R"({"schema_version": "1"})") ==
          "cudamatrix.lock is not a lock file: it has no schema_version");
    CHECK(message_of(R"({"schema_version": 2})") ==
          fmt::format("cudamatrix.lock: schema_version 2 is not understood: this cudamatrix {} reads 1",
                      kVersion));
    CHECK(message_of(R"({"schema_version": 1})") ==
          "cudamatrix.lock is not a lock file: a text is missing: tool");
    CHECK(message_of(changed(std::string(64, '1'), "123")) ==
          "cudamatrix.lock is not a lock file: \"123\" is not a sha256");
    CHECK(message_of(changed(std::string(64, '2'), std::string(64, 'G'))).find("is not a sha256") !=
          std::string::npos);
    CHECK(message_of(changed("b=2", "b")) ==
          "cudamatrix.lock is not a lock file: \"b\" is not package=version");
    CHECK(message_of(changed("b=2", "b=2; rm -rf /")) ==
          "cudamatrix.lock is not a lock file: \"b=2; rm -rf /\" is not package=version");
    CHECK(message_of(changed("b=2", "-o x=2")).find("is not package=version") != std::string::npos);
    CHECK(message_of(changed("\"torch\"", "\"torch @ https://example.org\""))
              .find("is not a wheel and version") != std::string::npos);
    CHECK(message_of(changed("\"2.6.0\"", "\"2.6.0 --pre\"")).find("is not a wheel and version") !=
          std::string::npos);
    CHECK(message_of(changed("\"apt\": {", "\"atp\": {")) ==
          "cudamatrix.lock is not a lock file: an object is missing: apt (image debian12-torch2.6.0_cu124)");
    CHECK(message_of(changed("\"devel\": [", "\"level\": [")) ==
          "cudamatrix.lock is not a lock file: a list is missing: devel (image debian12-torch2.6.0_cu124)");
    CHECK(message_of(changed("\"mmdebstrap\"", "1")) ==
          "cudamatrix.lock is not a lock file: the command of bookworm is not a list of strings");
}

TEST_CASE("bases from registries are read, written and compared by their digests") {
    const std::string name = "docker.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04";
    const auto digest = "sha256:" + std::string(64, '5');
    auto lock = sample();
    CHECK(lock_text(lock).find("references") == std::string::npos);  // as locks were before
    lock.references[name] = {digest};
    const auto text = lock_text(lock);
    CHECK(text.find("\"" + name + "\": {\n      \"digest\": \"" + digest + "\"") != std::string::npos);
    const auto back = parse_lock(text, "cudamatrix.lock");
    REQUIRE(back.ok());
    CHECK(back->references == lock.references);
    CHECK(lock_text(*back) == text);

    CHECK(lock_changes(sample(), lock) == std::vector<std::string>{name + ": " + digest + " pinned"});
    CHECK(lock_changes(lock, sample()) == std::vector<std::string>{name + ": no longer pinned"});
    auto moved = lock;
    moved.references[name].digest = "sha256:" + std::string(64, '6');
    CHECK(lock_changes(lock, moved) ==
          std::vector<std::string>{name + ": digest " + digest + " -> sha256:" + std::string(64, '6')});

    const auto refused = [&](std::string_view from, std::string_view to) {
        return message_of(text::replace_all(text, from, to));
    };
    CHECK(refused(digest, "sha256:123") ==
          "cudamatrix.lock is not a lock file: \"sha256:123\" is not an image digest");
    CHECK(refused(digest, std::string(64, '5')).ends_with("is not an image digest"));
    CHECK(refused(digest, "sha512:" + std::string(64, '5')).ends_with("is not an image digest"));
    CHECK(refused("\"digest\"", "\"digets\"") ==
          "cudamatrix.lock is not a lock file: a text is missing: digest");
    for (const auto* bad :
         {"docker.io/nvidia/cuda", "nvidia/cuda:12.4.1", "cuda:12.4.1", "docker.io/NVIDIA/cuda:1",
          "docker.io/nvidia/cuda:", "docker.io/nvidia/cuda:-x", "docker.io/nvidia/cuda:1 AS x",
          "docker.io//cuda:1", "docker.io/nvidia/cuda:1@sha256:5", "docker.io:port/cuda:1", "-x.io/cuda:1",
          ".io/cuda:1", "docker.io/$(id):1", ""}) {
        CHECK(refused(name, bad) ==
              fmt::format("cudamatrix.lock is not a lock file: \"{}\" is not an image reference", bad));
    }
    CHECK(refused("\"references\": {", "\"references\": 1, \"was\": {")
              .ends_with("an object is missing: references"));
    for (const auto* good :
         {"localhost:5000/a/b-c:1_2.3", "localhost/b:1", "nvcr.io/nvidia/pytorch:25.12-py3"})
        CHECK(parse_lock(text::replace_all(text, name, good), "l").ok());
}

TEST_CASE("an image on a registry's bases is covered by their digests, not by a bootstrap tar") {
    auto image = image_of("ubuntu22.04-cu12.4.1");
    image.suite.clear();
    image.base_reference = "docker.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04";
    image.devel_reference = "docker.io/nvidia/cuda:12.4.1-devel-ubuntu22.04";
    CHECK(image.references() == std::vector<std::string>{image.base_reference, image.devel_reference});
    Lock lock;
    ImagePins pins;
    pins.asked = asked_of(image);
    lock.images[image.id] = pins;
    const RegistryBase base{"sha256:" + std::string(64, '5')};
    CHECK_FALSE(lock.covers(image));
    lock.references[image.base_reference] = base;
    CHECK_FALSE(lock.covers(image));
    lock.references[image.devel_reference] = base;
    CHECK(lock.covers(image));
    SUBCASE("of another tag there is none") {
        image.base_reference = "docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04";
        CHECK(lock.pins(image) == nullptr);
    }
    SUBCASE("and without its pins it is not") {
        lock.images.clear();
    }
    CHECK_FALSE(lock.covers(image));
    image.devel_reference = image.base_reference;
    CHECK(image.references() == std::vector<std::string>{image.base_reference});
}

TEST_CASE("every proper prefix of a lock is refused") {
    const auto text = lock_text(sample());
    for (std::size_t size = 0; size + 2 < text.size(); size += 7)
        CHECK_FALSE(parse_lock(text.substr(0, size), "l").ok());
}

TEST_CASE("reading and writing the file") {
    const auto folder = fs::temp_directory_path() /
                        fmt::format("cudamatrix-lock-{}", static_cast<const void*>(&kTorchAnswers));
    fs::create_directories(folder);
    const auto path = folder / kLockFile;
    auto none = read_lock(path);
    REQUIRE(none.ok());
    CHECK_FALSE(none->has_value());
    CHECK(write_lock(path, sample()).value());
    CHECK_FALSE(write_lock(path, sample()).value());
    auto read = read_lock(path);
    REQUIRE(read.ok());
    CHECK(lock_text(**read) == lock_text(sample()));
    fs::remove(path);
    fs::create_directory(path);
    CHECK_FALSE(read_lock(path).ok());
    fs::remove_all(folder);
}

TEST_CASE("a lock covers an image only while the image asks the same") {
    const auto lock = sample();
    auto image = torch_image();
    CHECK(lock.covers(image));
    CHECK(lock.pins(image) != nullptr);
    SUBCASE("another id") {
        image.id = "debian12-other";
    }
    SUBCASE("another wheel") {
        image.packages = {{"timm", "1.0"}};
    }
    SUBCASE("another torch") {
        image.torch = "2.7.0";
    }
    SUBCASE("another index") {
        image.torch_index_default = false;
    }
    SUBCASE("another compiler") {
        image.compiler = "g++-11";
    }
    SUBCASE("another suite") {
        image.suite = "trixie";
    }
    SUBCASE("another python") {
        image.python = "3.13";
    }
    SUBCASE("a standalone build") {
        image.python_from = "standalone";
        image.python_release = "3.11.18";
    }
    SUBCASE("another installer") {
        image.installer = "uv==0.14.0";
    }
    CHECK_FALSE(lock.covers(image));
}

TEST_CASE("what an image does not hold does not change what it asks") {
    auto image = torch_image();
    const auto asked = asked_of(image);
    image.cells = {"a", "b"};
    image.compute = {"8.0"};
    image.ptx = "8.0";
    image.env = {{"A", "b"}};
    CHECK(asked_of(image) == asked);
}

TEST_CASE("changes are told one by one") {
    auto after = sample();
    CHECK(lock_changes(sample(), after).empty());
    auto& pins = after.images.begin()->second;
    pins.devel[0].version = "12.2.0-15";
    pins.runtime.pop_back();
    pins.wheels[0].sha256 = std::string(64, '9');
    after.bases["bookworm"].packages.push_back({"c", "3"});
    after.images["new"] = sample().images.begin()->second;
    CHECK(lock_changes(sample(), after) ==
          std::vector<std::string>{
              "bookworm: c 3 is new", "debian12-torch2.6.0_cu124: g++-12 12.2.0-14 -> 12.2.0-15",
              "debian12-torch2.6.0_cu124: python3-venv 3.11.2-1 is gone",
              "debian12-torch2.6.0_cu124: wheel torch 2.6.0 (222222222222) -> 2.6.0 (999999999999)",
              "new: 6 packages pinned"});
    CHECK(lock_changes(after, sample()).back() == "new: no longer pinned");
}

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

TEST_CASE("the address of a wheel is written, read, and no part of what is built") {
    const auto image = torch_image();
    auto lock = sample();
    lock.bases[image.suite] = lock.bases.begin()->second;
    auto& pins = lock.images[image.id] = lock.images.begin()->second;
    pins.asked = asked_of(image);
    const auto hash = pins_hash(image, lock);
    REQUIRE(hash.size() == 64);
    pins.wheels[0].url = "https://files.example.org/torch.whl";
    const auto text = lock_text(lock);
    CHECK(text.find("\"url\": \"https://files.example.org/torch.whl\"") != std::string::npos);
    const auto back = parse_lock(text, "cudamatrix.lock");
    REQUIRE(back.ok());
    CHECK(lock_text(*back) == text);
    CHECK(pins_hash(image, lock) == hash);
    CHECK(lock_changes(lock, *back).empty());
    CHECK(message_of(text::replace_all(text, "https://files", "ftp://files")) ==
          "cudamatrix.lock is not a lock file: \"ftp://files.example.org/torch.whl\" is not a wheel URL "
          "(image " +
              image.id + ")");
    CHECK(message_of(text::replace_all(text, "\"https://files.example.org/torch.whl\"", "7")) ==
          "cudamatrix.lock is not a lock file: a text is missing: url (image " + image.id + ")");
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
    CHECK(why("apt-devel.txt", "") ==
          "the answer apt-devel.txt of the lock cannot be believed: it says nothing of g++-12");
    CHECK(why("apt-devel.txt", "Inst g++-12\n").find("cannot be believed: Inst g++-12") != std::string::npos);
    CHECK(why("apt-devel.txt", "Inst g++-12;id (1 x)\n").find("\"g++-12;id 1\"") != std::string::npos);
    CHECK(why("apt-devel.txt", "Inst g++-12 ($(id) x)\n").find("\"g++-12 $(id)\"") != std::string::npos);
    CHECK(why("apt-devel.txt", "Inst -o (1 x)\n").find("\"-o 1\"") != std::string::npos);
    CHECK(why("base.txt", "x\n").find("cannot be believed") != std::string::npos);
    CHECK(why("pip-wheels.json", "{").find("cannot be believed") != std::string::npos);
    CHECK(why("pip-wheels.json", "[1]").find("it says nothing of torch==2.6.0") != std::string::npos);
    CHECK(why("pip-wheels.json", report("1")).find("cannot be believed") != std::string::npos);
    CHECK(why("pip-wheels.json", report(wheel("torch", "2.6.0", "abc"))).find("with sha256 \"abc\"") !=
          std::string::npos);
    CHECK(why("pip-wheels.json", report(wheel("torch", "2.7.0", std::string(64, 'a'))))
              .find("it says nothing of torch==2.6.0") != std::string::npos);
    CHECK(why("pip-wheels.json", report(wheel("torch\\u001b[31m", "2.6.0", std::string(64, 'a'))))
              .find('\x1b') == std::string::npos);
    CHECK(why("pip-wheels.json", report(wheel("torch", "2.6.0 --hash", std::string(64, 'a'))))
              .find("cannot be believed") != std::string::npos);
    CHECK(why("python.txt", "Python 3.12.1") ==
          "the answer python.txt of the lock cannot be believed: \"Python 3.12.1\" where python 3.11 is "
          "promised");
    CHECK(why("python.txt", "Python 3.11.1 experimental free-threading build").find("is promised") !=
          std::string::npos);
}

TEST_CASE("a package of dnf begins with a letter or a digit: an option of a command does not pass") {
    for (const auto* name : {"git", "gcc-c++", "0ad", "Xorg.x"})
        CHECK(is_rpm_package(name));
    for (const auto* name : {"", "-y", "--setopt", ".git", "+git", "_git", "git core", "git;ls", "g$t"})
        CHECK_FALSE(is_rpm_package(name));
    CHECK_FALSE(is_rpm_package(std::string(10'000, 'a')));
}
