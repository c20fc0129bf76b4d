class Memkernel < Formula
  desc "Memory for coding agents: plain Markdown notes and past sessions"
  homepage "https://github.com/memkernel/memkernel"
  version "0.0.0"
  license "MIT"

  # The archives of a release go here.

  def install
    bin.install "memkernel"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/memkernel.bash" => "memkernel"
    zsh_completion.install "completions/_memkernel"
    fish_completion.install "completions/memkernel.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/memkernel version")
  end
end
