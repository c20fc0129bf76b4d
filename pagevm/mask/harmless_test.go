package mask

import "testing"

// harmless decides by the value and by the text before it, for whatever rule found it.
func TestHarmless(t *testing.T) {
	for _, tc := range []struct {
		rule, before, v string
		want            bool
	}{
		{"password", `pass = "`, "env(SHOP_KEY)", true},
		{"password", `pass = "`, "moss(Kiesel7)", false},
		{"password", "A_PASSWORD: ", "B_PASSWORD,", true},
		{"password", "A_PASSWORD: ", "DOCK_42_TIDE", false},
		{"secret", "TOKEN_EXPIRES_IN = ", "15.minutes", true},
		{"secret", "token = ", "15.Minutes-Kran", false},
		{"secret", "UNSET_TOKEN = '", "#!unset-token", true},
		{"secret", "UNSET_TOKEN = '", "#!Unsat-token4", false},
		{"password", "пароль: ", "Журавль", false},
		{"secret", "token: '", "refresh-token-r3", true},
		{"secret", "token: '", "refresh-lake-r3", false},
		{"secret", "token: '", "token-9f3k2x8q1z", false},
		{"recovery-phrase", "wallet: ", "token key example 12", false},
		{"secret", "token=", "abc123def456", true},
		{"secret", "token=", "abc123dxf456", false},
		{"basic", "Basic ", "dXNlcjpwYXNz", true},
		{"basic", "Basic ", "dXNlcjpLaWVzZWw3IQ==", false},
		{"url-password", "https://user:", "pa%20ss", true},
		{"url-password", "https://user:", "pa%20Kies9", false},
		{"connection-string", "username=olga&password=", "olga", true},
		{"connection-string", "username=olga&password=", "maria", false},
		{"connection-string", "username=olga9&password=", "olga9", false},
		{"password-table", "| olga | ", "olga", true},
		{"password-table", "| olga |\n| ", "olga", false},
		{"secret", "arn:aws:secretsmanager:eu-west-1:111122223333:secret:", "a/b-Qw3rTy", true},
		{"secret", "FOO_ANON_KEY=", "q8", true},
		{"stripe", "FOO_PUBLISHABLE_KEY=", "q8", false},
		{"near-password", "by :user:`", "marek4711", true},
		{"near-password", "\nuser: ", "marek4711", false},
		{"stated-password", "Test password: ", "TestLoginRejectsNobody", true},
		{"stated-password", "password: ", "TestServer2024", false},
	} {
		if got := harmless(tc.rule, tc.before+tc.v, len(tc.before), len(tc.before)+len(tc.v)); got != tc.want {
			t.Errorf("%s %q %q: %v", tc.rule, tc.before, tc.v, got)
		}
	}
}
