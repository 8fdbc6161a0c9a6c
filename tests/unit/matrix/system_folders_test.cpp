#include "matrix/deployment/system_folders.hpp"

#include "support.hpp"

using namespace cudamatrix;

namespace {

constexpr std::string_view kHead = "version: 1\naxes: {cuda: [\"11.8.0\"]}\n";

bool reads(const std::string& text) {
    return read_matrix_text(std::string(kHead) + text, "matrix.yaml").ok();
}

}  // namespace

TEST_CASE("folders of data belong to the image's user, those of the system do not") {
    for (const std::string path : {"/srv",
                                   "/srv/work",
                                   "/data",
                                   "/cache",
                                   "/home/app",
                                   "/workspace",
                                   "/opt/myapp",
                                   "/var/lib/myapp",
                                   "/var/cache/myapp",
                                   "/var/log/app",
                                   "/mnt",
                                   "/media",
                                   "/media/x",
                                   "/tmp/x",
                                   "/var/tmp/x",
                                   "/usr/src/app",
                                   "/app",
                                   "/etcetera",
                                   "/library",
                                   "/binaries",
                                   "/rootless",
                                   "/opt/venv2",
                                   "/opt/cudamatrix-data"}) {
        CAPTURE(path);
        CHECK_FALSE(is_system_folder(path));
        CHECK(reads("build: {workdir: " + path + "}\n"));
        CHECK(reads("images: [{name: a}]\nservices: [{name: s, image: a, volumes: [\"v:" + path + "\"]}]\n"));
    }
    for (const std::string path : {"/etc",
                                   "/etc/app",
                                   "/usr",
                                   "/usr/bin",
                                   "/usr/share/app",
                                   "/usr/local",
                                   "/usr/local/bin",
                                   "/usr/src",
                                   "/usr/local/cuda",
                                   "/usr/local/cuda-12.4/lib64",
                                   "/bin",
                                   "/sbin",
                                   "/lib",
                                   "/lib64",
                                   "/boot",
                                   "/dev/shm",
                                   "/proc",
                                   "/sys/fs",
                                   "/run/secrets",
                                   "/root",
                                   "/root/.cache",
                                   "/home",
                                   "/opt",
                                   "/opt/venv",
                                   "/opt/venv/bin",
                                   "/opt/python",
                                   "/opt/cudamatrix",
                                   "/opt/conda",
                                   "/opt/nvidia/x",
                                   "/tmp",
                                   "/var",
                                   "/var/lib",
                                   "/var/lib/dpkg",
                                   "/var/lib/apt/x",
                                   "/var/cache",
                                   "/var/cache/apt",
                                   "/var/log",
                                   "/var/run",
                                   "/var/spool/x",
                                   "/var/tmp",
                                   "/etc/passwd",
                                   "/etc/passwd-"}) {
        CAPTURE(path);
        CHECK(is_system_folder(path));
        CHECK_FALSE(reads("build: {workdir: " + path + "}\n"));
        CHECK_FALSE(
            reads("images: [{name: a}]\nservices: [{name: s, image: a, volumes: [\"v:" + path + "\"]}]\n"));
    }
    // Nor by another way to write them.
    for (const std::string path : {"/./etc", "/etc/.", "//etc", "/etc/", "/srv/../etc", "/"})
        CHECK_FALSE(reads("build: {workdir: \"" + path + "\"}\n"));
}

TEST_CASE("files of the user take the place of no program, library or account of the system") {
    for (const std::string path :
         {"/etc/app.toml", "/etc/ssl/certs/site.pem", "/usr/local/bin/app", "/opt/app", "/usr/share/app",
          "/home/app/.config", "/etc/ld.so", "/etc/passwords", "/usr/local/etc/x", "/srv", "/workspace"}) {
        CAPTURE(path);
        CHECK_FALSE(is_system_file(path));
        CHECK(reads("images: [{name: a, copy: [{from: x, to: " + path + "}]}]\n"));
        CHECK(reads("images: [{name: a}]\nservices: [{name: s, image: a, volumes: [\"./x:" + path +
                    ":ro\"]}]\n"));
    }
    for (const std::string path : {"/etc/ld.so.preload",
                                   "/etc/ld.so.conf",
                                   "/etc/ld.so.conf.d/x.conf",
                                   "/etc/ld.so.cache",
                                   "/etc/passwd",
                                   "/etc/shadow",
                                   "/etc/group",
                                   "/etc/gshadow",
                                   "/etc/sudoers",
                                   "/etc/sudoers.d/x",
                                   "/etc/pam.d/su",
                                   "/etc",
                                   "/usr",
                                   "/usr/bin/x",
                                   "/usr/sbin",
                                   "/bin/sh",
                                   "/sbin/ldconfig",
                                   "/lib/x86_64-linux-gnu/libc.so.6",
                                   "/lib64/ld-linux-x86-64.so.2",
                                   "/usr/lib/x",
                                   "/usr/lib64/x",
                                   "/usr/libexec/x",
                                   "/usr/local",
                                   "/usr/local/lib/x",
                                   "/usr/local/cuda/bin/nvcc",
                                   "/opt",
                                   "/opt/venv/bin/python",
                                   "/opt/cudamatrix/suite",
                                   "/root/.bashrc",
                                   "/var/lib/dpkg/status",
                                   "/proc/self",
                                   "/dev/null"}) {
        CAPTURE(path);
        CHECK(is_system_file(path));
        CHECK_FALSE(reads("images: [{name: a, copy: [{from: x, to: " + path + "}]}]\n"));
        CHECK_FALSE(reads("images: [{name: a}]\nservices: [{name: s, image: a, volumes: [\"./x:" + path +
                          ":ro\"]}]\n"));
    }
}

TEST_CASE("accounts that distributions have are not the image's user") {
    for (const std::string name :
         {"app", "ubuntu", "trainer", "ci_user", "_app", "mailer", "www", "nobody2", "user"})
        CHECK(reads("build: {user: " + name + "}\n"));
    for (const std::string name :
         {"daemon", "bin",   "sys",   "sync",     "games",  "man",  "lp",       "mail",
          "news",   "uucp",  "proxy", "www-data", "backup", "list", "irc",      "_apt",
          "nobody", "users", "staff", "sudo",     "video",  "adm",  "operator", "ftp"}) {
        CAPTURE(name);
        CHECK_FALSE(reads("build: {user: " + name + "}\n"));
    }
}
