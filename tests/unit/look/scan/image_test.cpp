#include "look/scan/image.hpp"

#include <doctest/doctest.h>

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "temp_folder.hpp"
#include "unit/look/scan/tar_fixture.hpp"

using namespace cudamatrix;
using namespace cudamatrix::scan;
using fixture::blob_name;
using fixture::oci_layout;
using fixture::tar;
using fixture::TarMember;

namespace {

namespace fs = std::filesystem;

std::string library(int sm) {
    const auto blob = fixture::program({fixture::sass(static_cast<unsigned>(sm), {"k"})});
    return {blob.bytes().begin(), blob.bytes().end()};
}

// "path: 7.5" of every library with kernels, then the notes; or "error: ...".
std::string shown(const Result<Scan>& scan) {
    if (!scan.ok()) return "error: " + scan.failure().diagnostics.front().message;
    std::string out;
    for (const auto& each : scan->libraries) {
        out += each.path + ":";
        for (const auto& code : each.offer.all())
            out += " " + fatbin::to_text(code.arch);
        out += each.error.empty() ? "\n" : " " + each.error + "\n";
    }
    for (const auto& note : scan->notes)
        out += note + "\n";
    return out;
}

Result<Scan> scan_bytes(const std::string& bytes, const std::string& arch = "x86_64",
                        std::size_t piece = 5000) {
    const Options options;
    ImageTar image("i.tar", arch, options);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        const auto part = bytes.substr(at, piece);
        const auto fed = image.feed({reinterpret_cast<const std::uint8_t*>(part.data()), part.size()});
        if (!fed.ok()) return fed.failure();
    }
    return image.finish();
}

// A tar as docker save wrote it up to release 24: folders with layer.tar, links where layers are the same.
std::vector<TarMember> docker_archive(const std::vector<std::string>& layers) {
    std::vector<TarMember> members;
    std::string list;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto path = "layer" + std::to_string(i) + "/layer.tar";
        members.push_back({path, layers[i]});
        list += (list.empty() ? "\"" : ", \"") + path + "\"";
    }
    members.push_back(
        {"manifest.json", R"([{"Config": "c.json", "RepoTags": ["a:1"], "Layers": [)" + list + "]}]"});
    return members;
}

const std::vector<std::string>& layers() {
    static const std::vector<std::string> all{tar({{"usr/", "", '5'},
                                                   {"usr/liba.so", library(70)},
                                                   {"usr/libb.so", library(75)},
                                                   {"opt/x/libc.so", library(80)},
                                                   {"opt/y/libd.so", library(86)},
                                                   {"srv/e/libe.so", library(89)},
                                                   {"usr/readme", "text"},
                                                   {"usr/hard.so", "", '1', "usr/liba.so"}}),
                                              tar({{"usr/liba.so", library(90)},
                                                   {"usr/.wh.libb.so", ""},
                                                   {"opt/.wh.x", ""},
                                                   {"opt/y/", "", '5'},
                                                   {"opt/y/.wh..wh..opq", ""},
                                                   {"opt/y/libnew.so", library(120)},
                                                   {"srv/e", "a file where a folder was"}})};
    return all;
}

constexpr const char* kMerged =
    "opt/y/libnew.so: 12.0\nusr/hard.so: 7.0\nusr/liba.so: 9.0\n2 layers\n"
    "5 files with device code replaced or removed by later layers\n";

struct Layers : test::TempFolder {
    void write(const std::vector<TarMember>& members) const {
        for (const auto& member : members)
            put(member.path, member.content);
    }
};

}  // namespace

TEST_CASE("layers lie over each other, wherever the image comes from") {
    CHECK(shown(scan_bytes(tar(docker_archive(layers())))) == kMerged);
    const auto layout = oci_layout({{"", {layers()[0], fixture::gzipped(layers()[1])}}});
    CHECK(shown(scan_bytes(tar(layout))) == kMerged);
    CHECK(shown(scan_bytes(fixture::gzipped(tar(layout)), "x86_64", 77)) == kMerged);
    auto reversed = layout;  // what comes first in the tar need not be what is written first
    std::reverse(reversed.begin(), reversed.end());
    CHECK(shown(scan_bytes(tar(reversed))) == kMerged);

    const Layers folder;
    folder.write(layout);
    CHECK(is_image_folder(folder.path()));
    CHECK(shown(scan_image_folder(folder.path(), "x86_64", {})) == kMerged);
    folder.write({{"image.tar", tar(layout)}, {"plain", "text"}});
    CHECK(may_be_image_tar(folder.path() / "image.tar"));
    CHECK_FALSE(may_be_image_tar(folder.path() / "plain"));
    folder.write({{"image.tar.gz", fixture::gzipped(tar(layout))},
                  {"half", "\x1f" + std::string(600, 'a')},
                  {"other half", "a\x8b" + std::string(600, 'a')}});
    CHECK(may_be_image_tar(folder.path() / "image.tar.gz"));
    CHECK_FALSE(may_be_image_tar(folder.path() / "half"));
    CHECK_FALSE(may_be_image_tar(folder.path() / "other half"));
    CHECK_FALSE(may_be_image_tar(folder.path()));
    CHECK(shown(scan_image_tar(folder.path() / "image.tar", "x86_64", {})) == kMerged);

    Command save;
    save.argv = {"/bin/cat", folder.path() / "image.tar"};
    CHECK(shown(scan_saved_image(save, "docker:a", "x86_64", {})) == kMerged);
}

TEST_CASE("layers that docker save wrote once for several") {
    auto members = docker_archive({layers()[0], layers()[1]});
    members[1] = {"layer1/layer.tar", "", '2', "../layer0/layer.tar"};
    CHECK(shown(scan_bytes(tar(members))).find("usr/liba.so: 7.0\n") != std::string::npos);
    members[1] = {"layer1/layer.tar", "", '2', "../gone/layer.tar"};
    CHECK(shown(scan_bytes(tar(members))) == "error: i.tar: there is no layer1/layer.tar");
}

TEST_CASE("an index for several architectures") {
    const auto layout = oci_layout({{"amd64", {layers()[0]}}, {"arm64", {layers()[1]}}, {"unknown", {}}});
    CHECK(shown(scan_bytes(tar(layout))).find("usr/libb.so: 7.5") != std::string::npos);
    CHECK(shown(scan_bytes(tar(layout), "aarch64")).find("usr/libb.so") == std::string::npos);
    CHECK(shown(scan_bytes(tar(oci_layout({{"s390x", {layers()[0]}}})))) ==
          "error: i.tar has no image for linux/amd64");
    CHECK(shown(scan_bytes(tar(oci_layout({{"", {layers()[0]}}, {"", {layers()[1]}}})))) ==
          "error: i.tar holds 2 images");
}

TEST_CASE("images that are none, cut off or changed") {
    CHECK(shown(scan_bytes(tar({{"usr/liba.so", library(70)}}))) ==
          "error: i.tar is not a container image: it holds neither manifest.json nor index.json");
    const auto manifest = [](const std::string& json) {
        return shown(scan_bytes(tar({{"manifest.json", json}})));
    };
    const std::string none = "error: cannot read i.tar as a container image: ";
    CHECK(manifest("[]") == none + "its manifest.json names no image");
    CHECK(manifest("{}") == none + "its manifest.json names no image");
    CHECK(manifest("[{}]") == none + "its manifest.json has no list of layers");
    CHECK(manifest(R"([{"Layers": "a/layer.tar"}])") == none + "its manifest.json has no list of layers");
    CHECK(manifest(R"([{"Layers": [1]}])") == none + "its manifest.json has a layer without a name");
    CHECK(manifest(R"([{"Layers": ["a/layer.tar"]}])") == "error: i.tar: there is no a/layer.tar");
    CHECK(manifest(R"([{"RepoTags": ["a:1"]}, {"RepoTags": ["b:2"]}])") ==
          "error: i.tar holds 2 images: a:1, b:2");
    CHECK(manifest("[").starts_with(none));
    const auto index = [](const std::string& json) { return shown(scan_bytes(tar({{"index.json", json}}))); };
    CHECK(index("{}") == none + "its JSON has no list of layers");
    CHECK(index(R"({"manifests": [{"digest": "md5:1"}]})") == none + "'md5:1' is not a sha256 digest");
    CHECK(index(R"({"manifests": []})") == "error: i.tar has no image for linux/amd64");
    CHECK(index(R"({"manifests": [{"digest": "sha256:)" + std::string(64, '0') + "\"}]}") ==
          "error: i.tar: there is no blobs/sha256/" + std::string(64, '0'));

    auto changed = oci_layout({{"", {layers()[0]}}});
    const auto name = changed[1].path;
    changed[1].content = layers()[1];
    CHECK(shown(scan_bytes(tar(changed))) ==
          "error: " + name + " of i.tar is damaged: its bytes have the sha256 " + sha256(layers()[1]));
    changed[1].content = layers()[0].substr(0, 2000);
    CHECK(shown(scan_bytes(tar(changed))).find(name + " of i.tar as a tar: it is cut off") !=
          std::string::npos);
    const auto whole = tar(docker_archive(layers()));
    for (std::size_t length = 0; length < whole.size() - 1024; length += 499)
        CHECK(shown(scan_bytes(whole.substr(0, length))).starts_with("error: "));
}

TEST_CASE("an index that names itself comes to an end") {
    // No one can make a blob that holds its own hash; in a folder without hashes in the names one could try.
    std::vector<TarMember> members{{"oci-layout", "{}"}};
    std::string inner = R"({"layers": []})";
    for (int i = 0; i < 8; ++i) {
        members.push_back({blob_name(inner), inner});
        inner = R"({"manifests": [)" + fixture::descriptor(inner) + "]}";
    }
    members.push_back({"index.json", inner});
    CHECK(shown(scan_bytes(tar(members))) ==
          "error: cannot read i.tar as a container image: its indexes name each other without end");
}

TEST_CASE("what an engine cannot give") {
    Command save;
    save.argv = {"/bin/sh", "-c", "echo 'No such image: a' >&2; exit 1"};
    CHECK(shown(scan_saved_image(save, "docker:a", "x86_64", {})) ==
          "error: docker:a: /bin/sh ended with exit code 1: No such image: a");
    save.argv = {"/bin/sh", "-c", "while echo this is no tar at all, whatever is asked for; do :; done"};
    CHECK(shown(scan_saved_image(save, "docker:a", "x86_64", {})) ==
          "error: cannot read docker:a as a tar: a header has a wrong checksum (at byte 0)");
    save.argv = {"/no/such/program"};
    CHECK(shown(scan_saved_image(save, "docker:a", "x86_64", {})) ==
          "error: cannot run /no/such/program: it was not found in PATH");
    Cancellation stop;
    stop.request();
    save.argv = {"/bin/sh", "-c", "sleep 20"};
    save.grace = std::chrono::milliseconds(100);
    const auto stopped = scan_saved_image(save, "docker:a", "x86_64", {{}, &stop});
    REQUIRE_FALSE(stopped.ok());
    CHECK(stopped.failure().code == ExitCode::interrupted);
}
