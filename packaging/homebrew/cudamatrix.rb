# For a tap (homebrew-NAME/Formula/cudamatrix.rb). The release workflow fills in OWNER, version and checksums.
class Cudamatrix < Formula
  desc "Judge, render, build and prove matrices of GPU base images"
  homepage "https://github.com/OWNER/cudamatrix"
  version "VERSION"
  license "Apache-2.0"

  depends_on :linux

  on_intel do
    url "https://github.com/OWNER/cudamatrix/releases/download/vVERSION/cudamatrix-VERSION-linux-x86_64.tar.gz"
    sha256 "SHA256_X86_64"
  end
  on_arm do
    url "https://github.com/OWNER/cudamatrix/releases/download/vVERSION/cudamatrix-VERSION-linux-aarch64.tar.gz"
    sha256 "SHA256_AARCH64"
  end

  def install
    bin.install "bin/cudamatrix"
    man1.install Dir["share/man/man1/*.1"]
    bash_completion.install "share/bash-completion/completions/cudamatrix"
    zsh_completion.install "share/zsh/vendor-completions/_cudamatrix"
    fish_completion.install "share/fish/vendor_completions.d/cudamatrix.fish"
    doc.install Dir["share/doc/cudamatrix/*"]
  end

  test do
    (testpath/"matrix.yaml").write <<~YAML
      version: 1
      axes:
        driver: ["470.161.03"]
        torch: [2.6.0+cu124]
    YAML
    assert_match "driver >= 525.60.13", shell_output("#{bin}/cudamatrix check matrix.yaml", 1)
    assert_match version.to_s, shell_output("#{bin}/cudamatrix --version")
  end
end
