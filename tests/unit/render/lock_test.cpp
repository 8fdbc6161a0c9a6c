#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include "base/build_info.hpp"
#include "base/text.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/lock/lock_file.hpp"
#include "render/templates/context.hpp"
#include "temp_folder.hpp"
#include "unit/render/lock_images.hpp"

using namespace cudamatrix;
namespace fs = std::filesystem;
using test::image_of;
using test::torch_image;

namespace {

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

std::string edited(std::string_view from, std::string_view to) {
    const auto text = lock_text(sample());
    REQUIRE(text.find(from) != std::string::npos);
    return text::replace_all(text, from, to);
}

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
    const std::string no_lock = "cudamatrix.lock is not a lock file: ";
    const std::string image = " (image debian12-torch2.6.0_cu124)";
    CHECK(message_of("").find("cudamatrix.lock") != std::string::npos);
    for (const char* text : {"[]", "{}", R"({"schema_version": "1"})"})
        CHECK(message_of(text) == no_lock + "it has no schema_version");
    CHECK(message_of(R"({"schema_version": 2})") ==
          fmt::format("cudamatrix.lock: schema_version 2 is not understood: this cudamatrix {} reads 1",
                      kVersion));
    CHECK(message_of(R"({"schema_version": 1})") == no_lock + "a text is missing: tool");
    struct Row {
        std::string from, to, reason;
    };
    for (const auto& [from, to, reason] :
         std::vector<Row>{{std::string(64, '1'), "123", "\"123\" is not a sha256"},
                          {"b=2", "b", "\"b\" is not package=version"},
                          {"b=2", "b=2; rm -rf /", "\"b=2; rm -rf /\" is not package=version"},
                          {"b=2", "-o x=2", "\"-o x=2\" is not package=version"},
                          {"\"apt\": {", "\"atp\": {", "an object is missing: apt" + image},
                          {"\"devel\": [", "\"level\": [", "a list is missing: devel" + image},
                          {"\"mmdebstrap\"", "1", "the command of bookworm is not a list of strings"}})
        CHECK(message_of(edited(from, to)) == no_lock + reason);
    for (const auto& [from, to, reason] :
         std::vector<Row>{{std::string(64, '2'), std::string(64, 'G'), "is not a sha256"},
                          {"\"torch\"", "\"torch @ https://example.org\"", "is not a wheel and version"},
                          {"\"2.6.0\"", "\"2.6.0 --pre\"", "is not a wheel and version"}})
        CHECK(message_of(edited(from, to)).find(reason) != std::string::npos);
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

TEST_CASE("states of archives are read, written and compared by their times") {
    Lock lock;
    lock.snapshots = {{"debian", "20261121T000000Z"}, {"ubuntu", "20261122T000000Z"}};
    const auto text = lock_text(lock);
    CHECK(text.find("  \"snapshots\": {\n    \"debian\": \"20261121T000000Z\",\n    \"ubuntu\": "
                    "\"20261122T000000Z\"\n  }") != std::string::npos);
    const auto back = parse_lock(text, "l");
    REQUIRE(back.ok());
    CHECK(*back == lock);
    CHECK(taken_by(*back).snapshots == lock.snapshots);
    CHECK(lock_text(Lock{}).find("snapshots") == std::string::npos);
    CHECK(parse_lock(lock_text(Lock{}), "l")->snapshots.empty());
    const auto refused = [&](std::string_view from, std::string_view to) {
        CAPTURE(to);
        const auto bad = parse_lock(text::replace_all(text, from, to), "l");
        REQUIRE_FALSE(bad.ok());
        CHECK(bad.failure().code == ExitCode::bad_input);
        return text::replace_all(bad.failure().diagnostics.front().message, "l is not a lock file: ", "");
    };
    for (const std::string bad : {"", "2026-11-21", "none", "20261121T000000Z ", "20261121t000000z",
                                  "20261121T240000Z", "20260230T000000Z", "20261121T000000Z/../x", "$(id)"})
        CHECK(refused("20261121T000000Z", bad) == "\"" + bad + "\" is not the time of a snapshot of debian");
    CHECK(refused("\"20261121T000000Z\"", "1") == "\"\" is not the time of a snapshot of debian");
    for (const char* archive : {"a", "z", "A", "Z", "0", "9", "debian-security", "x.y_z"}) {
        CAPTURE(archive);
        Lock named;
        named.snapshots = {{archive, "20261121T000000Z"}};
        const auto read = parse_lock(lock_text(named), "l");
        REQUIRE(read.ok());
        CHECK(*read == named);
    }
    CHECK(refused("\"debian\"", "\"deb ian\"") == "\"deb ian\" is not the name of an archive");
    CHECK(refused("\"snapshots\": {", "\"snapshots\": [], \"was\": {") == "an object is missing: snapshots");
    auto after = lock;
    after.snapshots["debian"] = "20261123T000000Z";
    after.snapshots.erase("ubuntu");
    CHECK(lock_changes(lock, after) ==
          std::vector<std::string>{"debian: snapshot 20261121T000000Z -> 20261123T000000Z",
                                   "ubuntu: snapshot 20261122T000000Z is gone: the live archive"});
    CHECK(lock_changes(Lock{}, lock) == std::vector<std::string>{"debian: snapshot 20261121T000000Z pinned",
                                                                 "ubuntu: snapshot 20261122T000000Z pinned"});
    CHECK(lock_changes(lock, lock).empty());
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
    pins.held["devel"] = {image.compiler};
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
    const test::TempFolder folder;
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
}

TEST_CASE("a lock covers an image only while the image asks the same") {
    const auto lock = sample();
    const auto image = torch_image();
    CHECK(lock.covers(image));
    CHECK(lock.pins(image) != nullptr);
    const std::vector<std::function<void(Image&)>> changes{
        [](Image& other) { other.id = "debian12-other"; },
        [](Image& other) {
            other.packages = {{"timm", "1.0"}};
        },
        [](Image& other) { other.torch = "2.7.0"; },
        [](Image& other) { other.torch_index_default = false; },
        [](Image& other) { other.compiler = "g++-11"; },
        [](Image& other) { other.suite = "trixie"; },
        [](Image& other) { other.python = "3.13"; },
        [](Image& other) { other.python_from = "standalone", other.python_release = "3.11.18"; },
        [](Image& other) { other.installer = "uv==0.14.0"; }};
    for (std::size_t i = 0; i < changes.size(); ++i) {
        CAPTURE(i);
        auto other = image;
        changes[i](other);
        CHECK_FALSE(lock.covers(other));
    }
}

TEST_CASE("a lock covers an image only while every name that the image asks for has its pin") {
    const auto image = torch_image();
    const auto lacks = [&image](const std::function<void(ImagePins&)>& change) {
        auto lock = sample();
        change(lock.images.begin()->second);
        CHECK(lock.covers(image) == missing_pins(image, lock).empty());
        return text::join(missing_pins(image, lock), "; ");
    };
    CHECK(lacks([](ImagePins&) {}).empty());
    CHECK(lacks([](ImagePins& pins) { pins.wheels.pop_back(); }).empty());  // numpy is not asked for by name
    CHECK(lacks([](ImagePins& pins) { pins.devel.clear(); }) == "no pin of g++-12 (list devel)");
    CHECK(lacks([](ImagePins& pins) { pins.devel[0].package = "g++-12-base"; }) ==
          "no pin of g++-12 (list devel)");
    CHECK(lacks([](ImagePins& pins) { pins.runtime.clear(); }) ==
          "no pin of python3, python3-venv (list runtime)");
    CHECK(lacks([](ImagePins& pins) {
              pins.runtime.pop_back();
              pins.wheels.clear();
          }) == "no pin of python3-venv (list runtime); no pin of torch==2.6.0 (list image)");
    // A pin in another list is none, and neither is another release of what is asked for by its version.
    CHECK(lacks([](ImagePins& pins) { std::swap(pins.devel, pins.toolkit); }) ==
          "no pin of g++-12 (list devel)");
    CHECK(lacks([](ImagePins& pins) { std::swap(pins.wheels, pins.installer); }) ==
          "no pin of torch==2.6.0 (list image); no pin of uv==0.13.8 (list installer)");
    CHECK(lacks([](ImagePins& pins) { pins.wheels[0].version = "2.6.1"; }) ==
          "no pin of torch==2.6.0 (list image)");
    CHECK(lacks([](ImagePins& pins) { pins.wheels[0].version = "2.6.0+cu124"; }).empty());
    SUBCASE("what a bootstrapped base holds by itself needs no pin; of another suite it does not count") {
        auto lock = sample();
        lock.images.begin()->second.devel.clear();
        lock.bases["bookworm"].packages.push_back({"g++-12", "12.2.0-14"});
        CHECK(lock.covers(image));
        lock.bases["trixie"] = lock.bases["bookworm"];
        lock.bases["bookworm"].packages.pop_back();
        CHECK_FALSE(lock.covers(image));
    }
    SUBCASE("what the lock says that a registry's base holds needs none, in that list alone") {
        auto lock = sample();
        auto& pins = lock.images.begin()->second;
        pins.devel.clear();
        pins.wheels.clear();
        pins.held = {{"devel", {"g++-12"}}, {"image", {"torch"}}};
        CHECK(lock.covers(image));
        pins.held = {{"runtime", {"g++-12"}}, {"image", {"torch"}}};
        CHECK_FALSE(lock.covers(image));
        pins.held = {{"devel", {"g++-12"}}, {"image", {"torchvision"}}};
        CHECK_FALSE(lock.covers(image));
    }
}

TEST_CASE("what a base holds is written, read, and no part of what is built") {
    auto lock = sample();
    CHECK(lock_text(lock).find("held") == std::string::npos);  // as locks were before
    auto& pins = lock.images.begin()->second;
    const auto hash = pins_hash(torch_image(), lock, lock.covering(torch_image()));
    pins.held = {{"devel", {"g++-12", "make"}}, {"image", {"numpy"}}};
    const auto text = lock_text(lock);
    const auto back = parse_lock(text, "cudamatrix.lock");
    REQUIRE(back.ok());
    CHECK(back->images.begin()->second.held == pins.held);
    CHECK(lock_text(*back) == text);
    CHECK(pins_hash(torch_image(), lock, lock.covering(torch_image())) == hash);
    CHECK(lock_changes(sample(), lock).empty());
    const std::string start = "cudamatrix.lock is not a lock file: ";
    const std::string image = " (image debian12-torch2.6.0_cu124)";
    const auto refused = [&](std::string_view from, std::string_view to) {
        REQUIRE(text.find(from) != std::string::npos);
        return message_of(text::replace_all(text, from, to));
    };
    CHECK(refused("\"make\"", "\"make;id\"") == start + "\"make;id\" is not the name of a package" + image);
    CHECK(refused("\"make\"", "7") == start + "\"\" is not the name of a package" + image);
    CHECK(refused("\"held\": {", "\"held\": 1, \"was\": {") == start + "an object is missing: held" + image);
    CHECK(refused("\"held\": {", "\"held\": {\"level\": [], ") ==
          start + "\"level\" is not a list of pins" + image);
    CHECK(refused("\"held\": {", "\"held\": {\"python\": \"x\", ") ==
          start + "a list is missing: python" + image);
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

TEST_CASE("the address of a wheel is written, read, and no part of what is built") {
    const auto image = torch_image();
    auto lock = sample();
    lock.bases[image.suite] = lock.bases.begin()->second;
    auto& pins = lock.images[image.id] = lock.images.begin()->second;
    pins.asked = asked_of(image);
    const auto hash = pins_hash(image, lock, lock.covering(image));
    REQUIRE(hash.size() == 64);
    pins.wheels[0].url = "https://files.example.org/torch.whl";
    const auto text = lock_text(lock);
    CHECK(text.find("\"url\": \"https://files.example.org/torch.whl\"") != std::string::npos);
    const auto back = parse_lock(text, "cudamatrix.lock");
    REQUIRE(back.ok());
    CHECK(lock_text(*back) == text);
    CHECK(pins_hash(image, lock, lock.covering(image)) == hash);
    CHECK(lock_changes(lock, *back).empty());
    CHECK(message_of(text::replace_all(text, "https://files", "ftp://files")) ==
          "cudamatrix.lock is not a lock file: \"ftp://files.example.org/torch.whl\" is not a wheel URL "
          "(image " +
              image.id + ")");
    CHECK(message_of(text::replace_all(text, "\"https://files.example.org/torch.whl\"", "7")) ==
          "cudamatrix.lock is not a lock file: a text is missing: url (image " + image.id + ")");
}
