#include "matrix/deployment/syntax.hpp"

#include "support.hpp"

using namespace cudamatrix;
using matrix_test::reads;
using text::split;

namespace {

bool mounts(const std::string& volume) {
    return reads("images: [{name: a}]\nservices: [{name: s, image: a, volumes: [\"" + volume + "\"]}]\n");
}

}  // namespace

TEST_CASE("folders of data belong to the image's user, those of the system do not") {
    const auto check = [](std::string_view paths, bool system) {
        for (const std::string& path : split(paths, ' ')) {
            CAPTURE(path);
            CHECK(is_system_folder(path) == system);
            CHECK(reads("build: {workdir: " + path + "}\n") == !system);
            CHECK(mounts("v:" + path) == !system);
        }
    };
    check(
        "/srv /srv/work /data /cache /home/app /workspace /opt/myapp /var/lib/myapp /var/cache/myapp "
        "/var/log/app /mnt /media /media/x /tmp/x /var/tmp/x /usr/src/app /app /etcetera /library /binaries "
        "/rootless /opt/venv2 /opt/cudamatrix-data",
        false);
    check(
        "/etc /etc/app /usr /usr/bin /usr/share/app /usr/local /usr/local/bin /usr/src /usr/local/cuda "
        "/usr/local/cuda-12.4/lib64 /bin /sbin /lib /lib64 /boot /dev/shm /proc /sys/fs /run/secrets /root "
        "/root/.cache /home /opt /opt/venv /opt/venv/bin /opt/python /opt/cudamatrix /opt/conda /opt/nvidia/x "
        "/tmp /var /var/lib /var/lib/dpkg /var/lib/apt/x /var/cache /var/cache/apt /var/log /var/run "
        "/var/spool/x /var/tmp /etc/passwd /etc/passwd-",
        true);
    // Nor by another way to write them.
    for (const std::string& path : split("/./etc /etc/. //etc /etc/ /srv/../etc /", ' '))
        CHECK_FALSE(reads("build: {workdir: \"" + path + "\"}\n"));
}

TEST_CASE("files of the user take the place of no program, library or account of the system") {
    const auto check = [](std::string_view paths, bool system) {
        for (const std::string& path : split(paths, ' ')) {
            CAPTURE(path);
            CHECK(is_system_file(path) == system);
            CHECK(reads("images: [{name: a, copy: [{from: x, to: " + path + "}]}]\n") == !system);
            CHECK(mounts("./x:" + path + ":ro") == !system);
        }
    };
    check(
        "/etc/app.toml /etc/ssl/certs/site.pem /usr/local/bin/app /opt/app /usr/share/app /home/app/.config "
        "/etc/ld.so /etc/passwords /usr/local/etc/x /srv /workspace",
        false);
    check(
        "/etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d/x.conf /etc/ld.so.cache /etc/passwd /etc/shadow "
        "/etc/group /etc/gshadow /etc/sudoers /etc/sudoers.d/x /etc/pam.d/su /etc /usr /usr/bin/x /usr/sbin "
        "/bin/sh /sbin/ldconfig /lib/x86_64-linux-gnu/libc.so.6 /lib64/ld-linux-x86-64.so.2 /usr/lib/x "
        "/usr/lib64/x /usr/libexec/x /usr/local /usr/local/lib/x /usr/local/cuda/bin/nvcc /opt "
        "/opt/venv/bin/python /opt/cudamatrix/suite /root/.bashrc /var/lib/dpkg/status /proc/self /dev/null",
        true);
}

TEST_CASE("accounts that distributions have are not the image's user") {
    for (const std::string& name : split("app ubuntu trainer ci_user _app mailer www nobody2 user", ' '))
        CHECK(reads("build: {user: " + name + "}\n"));
    for (
        const std::string& name : split(
            "daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc _apt nobody users "
            "staff sudo video adm operator ftp",
            ' ')) {
        CAPTURE(name);
        CHECK_FALSE(reads("build: {user: " + name + "}\n"));
    }
}
